"""Real servers, as recorded by others: each shows its parts in its own places."""

from dataclasses import dataclass

import pytest

from tests.redfish.site import site_of
from tests.redfish.tree_server import CREDENTIALS, TreeBmc, honest, recorded, serving


@dataclass(frozen=True)
class Recorded:
    """What a person reads off the recording of a machine."""

    machine: str
    manufacturer: str
    model: str
    gpus: int
    cpus: int
    architecture: str
    firmware: int
    memory_gib: float


MACHINES = [
    Recorded("nvidia-dgx-h100", "NVIDIA", "DGXH100", 8, 2, "x86_64", 66, 2048),
    Recorded("nvidia-gb200-nvl-compute-tray", "", "", 4, 2, "aarch64", 30, 960),
    Recorded("supermicro-gb300", "Supermicro", "GB NVL", 4, 2, "aarch64", 29, 960),
    Recorded("supermicro-sys-821ge-tnhr", "Supermicro", "SYS-821GE-TNHR", 8, 2, "x86_64", 106, 2048),
    Recorded("lenovo-sr670v2-xcc", "Lenovo", "ThinkSystem SR670 V2", 8, 2, "x86_64", 43, 1024),
    Recorded("dell-r750-idrac9", "Dell Inc.", "PowerEdge R750", 1, 2, "x86_64", 29, 512),
    Recorded("hpe-xl675d-a100-ilo5", "HPE", "ProLiant XL675d Gen10 Plus", 8, 2, "x86_64", 27, 256),
    Recorded("gigabyte-h262-z63-megarac", "GIGABYTE", "H262-Z63-00", 0, 2, "x86_64", 3, 244),
    Recorded("nvidia-gb-nvlink-switch-tray", "NVIDIA", "N5110_LD", 0, 0, "", 11, 0),
    Recorded(
        "nvidia-bluefield3-dpu-bmc", "https://www.mellanox.com", "BlueField-3 SmartNIC Main Card", 0, 0, "", 14, 0
    ),
]


@pytest.mark.parametrize("expands", [True, False], ids=["expanding", "plain"])
@pytest.mark.parametrize("seen", MACHINES, ids=lambda seen: seen.machine)
async def test_a_sweep_finds_what_the_recording_shows(seen: Recorded, expands: bool) -> None:
    """GPUs are Processors (DGX, GB200, GB300, Lenovo, Dell), PCIeDevices (Supermicro) or OEM devices (HPE iLO 5)."""
    bmc = TreeBmc(recorded(seen.machine), honest if expands else None)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        found = await opened.inventory()
        identity = await opened.identity()
    assert (found.identity.manufacturer, found.identity.model) == (seen.manufacturer, seen.model)
    assert found.identity.serial
    assert identity == found.identity
    assert len(found.gpus) == seen.gpus
    assert sum(one.kind == "CPU" for one in found.processors) == seen.cpus
    assert found.architecture == seen.architecture
    assert len(found.firmware) == seen.firmware
    assert len({one.uri for one in found.firmware}) == seen.firmware
    assert found.memory_gib == seen.memory_gib


@pytest.mark.parametrize(
    ("machine", "targets", "uri"),
    [
        ("nvidia-dgx-h100", ("Pxe", "UefiHttp"), True),  # allowable values only in the settings object (AMI)
        ("supermicro-sys-821ge-tnhr", ("Pxe", "UefiHttp"), False),
        ("nvidia-gb200-nvl-compute-tray", ("Pxe",), False),
        ("nvidia-bluefield3-dpu-bmc", ("Pxe", "UefiHttp"), True),
    ],
)
async def test_boot_abilities_come_from_the_system_or_its_settings(
    machine: str, targets: tuple[str, ...], uri: bool
) -> None:
    """UEFI HTTP boot needs both the target and the HttpBootUri property."""
    async with (
        serving(TreeBmc(recorded(machine), honest)) as address,
        site_of() as site,
        site.bmcs.open(address, CREDENTIALS) as opened,
    ):
        found = await opened.inventory()
    assert set(targets) <= set(found.boot.targets)
    assert ("UefiHttp" in found.boot.targets) == ("UefiHttp" in targets)
    assert found.boot.http_boot_uri is uri


async def test_at_most_two_requests_at_once_and_few_in_all() -> None:
    """A DGX H100 answers in 0.5 s on average: 186 plain GETs took a recorder 98 s; BMCs choke on many at once."""
    bmc = TreeBmc(recorded("nvidia-dgx-h100"), honest)
    bmc.delay = 0.001
    async with serving(bmc) as address, site_of() as site:
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            first = await opened.inventory()
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            again = await opened.inventory()
    assert bmc.most_in_flight == 2
    assert first.requests <= 110  # it reads everything both ways, once per firmware
    assert again.requests <= 10
    assert len(bmc.sessions) == 0
    assert sum(count for what, count in bmc.requests.items() if what.startswith("POST ")) == 1
