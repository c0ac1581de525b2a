"""The task of an update is found wherever the BMC names it, and read as it is; over HTTPS, on every emulated server."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from emulator.testing import Bmc, EmulatedFleet
from provisioner.errors import AnswerLost, BmcRefused, ResourceGone
from provisioner.models.identifiers import TaskUri
from provisioner.redfish.bmc import RedfishBmc
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import TlsMode
from tests.redfish.emulated import PERSONAS, faulty, files, finished, flashable, ours, until
from tests.redfish.site import Site

pytestmark = pytest.mark.xdist_group("redfish-tasks")  # one fleet for all of them
HGX, DELL, GB200, BLUEFIELD, DGX, B200, HPE, LENOVO, SWITCH = range(len(PERSONAS))
ALL = pytest.mark.parametrize("which", range(len(PERSONAS)), ids=PERSONAS)


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One server of each persona."""
    with EmulatedFleet([Bmc(persona) for persona in PERSONAS]) as running:
        yield running


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site, closed at the end."""
    made = Site(TlsMode.PIN, timeouts=Timeouts(connect_seconds=5.0, read_seconds=5.0, push_seconds=5.0))
    yield made
    await made.bmcs.close()


@ALL
@pytest.mark.parametrize("where", ["header", "body", "message", "none", "absolute", "relative", "internal-host"])
async def test_a_task_is_found_wherever_it_is_named(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int, where: str
) -> None:
    """metal-toolbox/bmclib#399, stmcginnis/gofish#494; with nothing said, the task that is new in the list."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "task-location", where=where):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            assert uri.startswith("/redfish/v1/Task")
            assert (await finished(bmc, uri)).state == "Completed"
    assert thing.flashed(fleet) == before + 1


@ALL
@pytest.mark.parametrize("fault", ["post-answers-303", "task-get-202", "monitor-missing"])
async def test_odd_answers_about_a_task_lead_to_it_all_the_same(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int, fault: str
) -> None:
    """DMTF/python-redfish-library#98, DMTF/Redfish-Service-Validator#384; sushy, fixes-ilo5-redfish-firmware-update."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, fault):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            task = await finished(bmc, uri)
    assert (task.state, task.status in {"OK", ""}) == ("Completed", True)
    assert thing.flashed(fleet) == before + 1


@ALL
async def test_an_update_without_a_task_is_seen_by_its_version_alone(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int
) -> None:
    """ibm-openbmc/dev#2522: 200, a message list, and no task anywhere."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "update-names-no-task"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            assert await bmc.start_update(thing.order(url)) is None
            await until(lambda: thing.flashed(fleet) == before + 1)


@ALL
async def test_a_good_status_with_an_error_inside_is_a_refusal(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int
) -> None:
    """openbmc/bmcweb#75: nothing is flashed, and no other transport is tried behind it."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "push-answers-200-with-error", times=1):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            with pytest.raises(BmcRefused, match="internal error"):
                await bmc.start_update(thing.order(url))
            assert thing.flashed(fleet) == before
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            await finished(bmc, uri)
    assert thing.flashed(fleet) == before + 1


@ALL
async def test_a_lost_answer_is_said_to_be_lost_and_the_task_is_in_the_list(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int
) -> None:
    """stmcginnis/gofish#494: the update was acted on; sending it again would flash twice."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "post-answer-lost", path="UpdateService", times=1):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            known = {task.uri for task in await bmc.tasks()}
            order = thing.order(url)
            with pytest.raises(AnswerLost):
                await bmc.start_update(order)
            new = [task for task in await bmc.tasks() if task.uri not in known]
            assert [task.targets for task in new] == [order.targets]
            await until(lambda: thing.flashed(fleet) == before + 1)


@pytest.mark.parametrize(
    ("when", "which"), [("start", DELL), ("completion", HPE), ("poll", HGX), ("completion", GB200)]
)
async def test_a_task_that_vanishes_is_gone(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, when: str, which: int
) -> None:
    """ironcore-dev/metal-operator#617: 404 for a task that succeeded; never another task in its place."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "task-vanishes", when=when, polls=0):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            await until(lambda: thing.flashed(fleet) == before + 1)
            with pytest.raises(ResourceGone):
                await _look_on(bmc, uri)


async def _look_on(bmc: RedfishBmc, uri: TaskUri) -> None:
    for _ in range(50):
        await bmc.task(uri)
        await asyncio.sleep(0.05)


@ALL
async def test_a_failed_task_says_why(fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int) -> None:
    """ironcore-dev/metal-operator#453; the monitor's refusal is the task's failure."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "task-fails"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            task = await finished(bmc, uri)
    assert task.state == "Exception"
    assert task.messages
    assert thing.flashed(fleet) == before


@pytest.mark.parametrize("which", [DELL, HGX, LENOVO])
async def test_completed_and_critical_keeps_the_id_of_its_message(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int
) -> None:
    """ironcore-dev/metal-operator#453: Completed at 100 %, Critical, a JCP message that support will ask for."""
    thing = flashable(fleet, fleet.bmcs[which], tmp_path)
    with faulty(fleet, thing.name, "task-ends", state="Completed", status="Critical", message_id="IDRAC.2.8.JCP037"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            task = await finished(bmc, uri)
    assert task.status == "Critical"
    assert any("JCP037" in one for one in task.messages)


async def test_messages_of_an_unknown_registry_are_kept(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """ibm-openbmc/bmcweb#519."""
    thing = flashable(fleet, fleet.bmcs[GB200], tmp_path)
    with faulty(fleet, thing.name, "task-oem-messages", message_id="AcmeUpdate.0.9.ComponentStatus"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[GB200]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            task = await finished(bmc, uri)
    assert any("AcmeUpdate.0.9.ComponentStatus" in one for one in task.messages)
