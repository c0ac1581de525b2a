"""Firmware updates and their tasks: started once, by the transport that the BMC offers."""

from pathlib import Path

import pytest
from aiohttp import BodyPartReader, web

from provisioner.errors import BmcRefused
from provisioner.models.identifiers import TaskUri
from provisioner.models.package import Package
from provisioner.models.update import UpdateOrder
from tests.counted_uploads import CountedUploads
from tests.redfish.small_server import FIRMWARE, small
from tests.redfish.tree_server import Documents, TreeBmc, opened


def _package(tmp_path: Path, size: int) -> Package:
    path = tmp_path / "bmc.fw"
    path.write_bytes(b"x" * size)
    return Package(path=path, url="http://10.0.0.1/fw/bmc.fw", size_bytes=size)


def _accepted(*, body: Documents | None = None, location: str | None = None) -> web.Response:
    return web.json_response(body or {}, status=202, headers={"Location": location} if location else {})


TASK = "/redfish/v1/TaskService/Tasks/4"


@pytest.mark.parametrize(
    ("response", "uri"),
    [
        (
            _accepted(location="https://127.0.0.1/redfish/v1/TaskService/TaskMonitors/4"),
            "/redfish/v1/TaskService/TaskMonitors/4",
        ),
        (_accepted(body={"@odata.id": TASK, "TaskState": "New"}, location="/redfish/v1/TaskMonitors/4"), TASK),
        (_accepted(body={"@odata.id": TASK}), TASK),
        (_accepted(body={"TaskMonitor": "/mon/4"}), "/mon/4"),
        (_accepted(), None),
    ],
)
async def test_a_pull_names_its_task_in_one_of_many_ways(
    tmp_path: Path, response: web.Response, uri: str | None
) -> None:
    """Location header, body, or nothing; the Task itself is better than its monitor, which vanishes."""
    bmc = TreeBmc(small())
    bmc.responses["POST /redfish/v1/updateservice/actions/simpleupdate"] = lambda: response
    async with opened(bmc) as one:
        assert await one.start_update(UpdateOrder(_package(tmp_path, 10), (f"{FIRMWARE}/BMC",))) == uri
    assert bmc.requests["POST /redfish/v1/UpdateService/Actions/SimpleUpdate"] == 1


async def test_a_package_that_is_too_large_is_not_even_offered(tmp_path: Path) -> None:
    """MaxImageSizeBytes of the small server is 1000; OpenBMC closes the connection in the middle instead."""
    bmc = TreeBmc(small())
    async with opened(bmc) as one:
        with pytest.raises(BmcRefused, match="1001 bytes, but MaxImageSizeBytes is 1000"):
            await one.start_update(UpdateOrder(_package(tmp_path, 1001), ()))
    assert not any("SimpleUpdate" in what for what in bmc.requests)


async def test_a_pull_over_a_protocol_that_is_not_allowed_becomes_a_push(tmp_path: Path) -> None:
    """Allowable values of TransferProtocol are lists such as SCP, HTTPS (BlueField-3 has SCP, HTTP, HTTPS)."""
    documents = small()
    service = documents["/redfish/v1/updateservice"]
    service["Actions"]["#UpdateService.SimpleUpdate"]["TransferProtocol@Redfish.AllowableValues"] = ["SCP", "HTTPS"]
    bmc = PushBmc(documents)
    async with opened(bmc) as one:
        assert await one.start_update(UpdateOrder(_package(tmp_path, 900), (f"{FIRMWARE}/BMC",))) == TASK
    assert bmc.parts == [
        ("UpdateParameters", "application/json", f'{{"Targets":["{FIRMWARE}/BMC"]}}'.encode()),
        ("UpdateFile", "application/octet-stream", b"x" * 900),
    ]


async def test_a_push_is_streamed_from_the_disk(tmp_path: Path) -> None:
    """GB200 packages are near 200 MB, and a site pushes dozens at once; DMTF's library reads each into memory."""
    documents = small()
    service = documents["/redfish/v1/updateservice"]
    del service["Actions"]["#UpdateService.SimpleUpdate"]
    service["MaxImageSizeBytes"] = 209715200
    bmc = PushBmc(documents)
    uploads = CountedUploads()
    async with opened(bmc, uploads=uploads) as one:
        assert await one.start_update(UpdateOrder(_package(tmp_path, 20_000_000), None)) == TASK
    assert bmc.sizes == [2, 20_000_000]
    assert uploads.taken == 20_000_000
    assert max(uploads.pieces) < 1_000_000, "in pieces, each of which waits for the site's limit"


class PushBmc(TreeBmc):
    """Takes multipart pushes."""

    def __init__(self, documents: Documents) -> None:
        """Nothing pushed yet."""
        super().__init__(documents)
        self.parts: list[tuple[str | None, str | None, bytes]] = []
        self.sizes: list[int] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """The push, or anything else."""
        if request.method != "POST" or not request.path.endswith("/upload"):
            return await super().handle(request)
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            content = bytes(await part.read())
            self.parts.append((part.name, part.headers.get("Content-Type"), content))
            self.sizes.append(len(content))
        return _accepted(location=TASK)


async def test_a_task_is_read_with_the_targets_of_its_request() -> None:
    """Task.Payload tells whose task it is, so that a restarted service finds its own again."""
    bmc = TreeBmc(small())
    async with opened(bmc) as one:
        listed = await one.tasks()
        looked = await one.task(TaskUri("/redfish/v1/TaskService/Tasks/1"))
    assert looked == listed[0]
    assert (looked.state, looked.status, looked.percent) == ("Running", "OK", 40)
    assert looked.targets == (f"{FIRMWARE}/BMC",)


@pytest.mark.parametrize(("status", "state"), [(202, "Running"), (204, "Completed")])
async def test_a_monitor_may_answer_with_nothing(status: int, state: str) -> None:
    """DSP0266 "Asynchronous operations": 202 while it runs, then what the request would have answered."""
    bmc = TreeBmc(small())
    bmc.responses["GET /redfish/v1/taskmonitors/4"] = lambda: web.Response(status=status)
    async with opened(bmc) as one:
        assert (await one.task(TaskUri("/redfish/v1/TaskMonitors/4"))).state == state
