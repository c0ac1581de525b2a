"""What the shipped firmware catalogs say about targets and packages is what the emulated servers take, over HTTPS."""

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from emulator.package import write_packages
from emulator.persona.load import load_persona
from emulator.testing import Bmc, EmulatedFleet, RunningBmc
from profiles.firmware.component import FirmwareComponent
from profiles.loader import SHIPPED, load_catalog
from provisioner.errors import OneTargetOnly
from provisioner.firmware.classes import matching
from provisioner.models.package import Package
from provisioner.models.update import UpdateOrder
from provisioner.redfish.bmc import RedfishBmc
from provisioner.redfish.tls import TlsMode
from tests.redfish.emulated import INVENTORY, TIMEOUTS, files, finished, ours, until
from tests.redfish.site import Site

pytestmark = pytest.mark.xdist_group("redfish-catalogs")  # one fleet for all of them
BUNDLES = {
    "hgx-h100": "hgx-h100-2026-1",
    "hgx-b200": "hgx-b200-2026-1",
    "gb200-compute-tray": "gb200-2026-1",
    "dell-xe9680": "dell-xe9680-2026-1",
    "hpe-xl675d": "hpe-xl675d-2026-1",
    "lenovo-sr670v2": "lenovo-sr670v2-2026-1",
}
CATALOG = load_catalog(SHIPPED)


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One server of each class."""
    with EmulatedFleet([Bmc(persona) for persona in BUNDLES]) as running:
        yield running


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the catalogs name."""
    folder = tmp_path_factory.mktemp("firmware")
    assert list(write_packages(folder, [load_persona(name) for name in BUNDLES]))
    return folder


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site, closed at the end."""
    made = Site(TlsMode.PIN, timeouts=TIMEOUTS)
    yield made
    await made.bmcs.close()


def orders(component: FirmwareComponent, parts: list[str], package: Package) -> list[UpdateOrder]:
    """As the catalog wants them: one for all parts, and one for each in case the BMC takes no more at a time."""
    if component.targets == "parts":
        uris = tuple(f"{INVENTORY}/{part}" for part in parts)
        return [UpdateOrder(package, uris), *(UpdateOrder(package, (uri,)) for uri in uris)]
    if component.targets == "absent":
        return [UpdateOrder(package, None)]
    return [UpdateOrder(package, () if component.targets == "empty" else tuple(component.targets))]


async def flash(bmc: RedfishBmc, wanted: list[UpdateOrder], *, restarts: bool) -> None:
    """Send the first order, or all others where the BMC takes one target only."""
    try:
        sent = [await bmc.start_update(wanted[0])]
    except OneTargetOnly:
        sent = []
        for order in wanted[1:]:
            sent.append(await bmc.start_update(order))
            await finished(bmc, sent[-1] or pytest.fail("there is no task"))
    for uri in [] if restarts else sent:
        assert uri is not None
        assert (await finished(bmc, uri)).state == "Completed"


@pytest.mark.parametrize("which", range(len(BUNDLES)), ids=list(BUNDLES))
async def test_the_inventory_counts_the_gpus_of_the_hardware_class(
    fleet: EmulatedFleet, site: Site, which: int
) -> None:
    """As Processors, or on HPE as PCIe devices with bare numbers for ids, beside the network adapters."""
    server = fleet.bmcs[which]
    hardware = CATALOG.hardware_classes[CATALOG.firmware_bundles[BUNDLES[server.persona]].hardware_class]
    async with ours(site, server) as bmc:
        await bmc.inventory()
        found = await bmc.inventory()
    assert len({one.id for one in found.gpus}) == len(found.gpus) == hardware.gpu_count
    assert found.requests <= 11
    asked = fleet.truth(server.name)["requests"]
    assert any("PCIeDevices" in path for path in asked) == (server.persona == "hpe-xl675d")


@pytest.mark.parametrize("which", range(len(BUNDLES)), ids=list(BUNDLES))
async def test_a_package_with_the_targets_of_the_catalog_reaches_the_parts_of_its_component_once(
    fleet: EmulatedFleet, site: Site, packages: Path, which: int
) -> None:
    """NVIDIA's guides: HGX_0 or the HGX chassis for the GPU board, an empty list for the board of a GB200 tray."""
    server = fleet.bmcs[which]
    bmc_first, *others = CATALOG.firmware_bundles[BUNDLES[server.persona]].components
    for component, *more in (*_together(others), [bmc_first]):  # the BMC restarts after its own, so it comes last here
        before = _flashes(fleet, server)
        artefact = component.artefact
        async with files(packages) as url, ours(site, server) as bmc:
            inventory = await bmc.firmware()
            parts = [part.id for one in (component, *more) for part in matching(one, inventory)]
            assert parts
            package = Package(packages / artefact.file, f"{url}/{artefact.file}", artefact.size_bytes)
            await flash(bmc, orders(component, parts, package), restarts=component is bmc_first)
            wanted = before | {part: before.get(part, 0) + 1 for part in parts}
            await until(partial(_are, fleet, server, wanted))


def _together(components: Sequence[FirmwareComponent]) -> list[list[FirmwareComponent]]:
    """Those of one package for the same group of targets: a whole board."""
    found: dict[tuple[str, str], list[FirmwareComponent]] = {}
    for one in components:
        own = one.component if one.targets == "parts" else ""
        found.setdefault((one.artefact.sha256 + own, str(one.targets)), []).append(one)
    return list(found.values())


def _are(fleet: EmulatedFleet, server: RunningBmc, wanted: dict[str, int]) -> bool:
    return _flashes(fleet, server) == wanted


def _flashes(fleet: EmulatedFleet, server: RunningBmc) -> dict[str, int]:
    """Inventory id to how often it was flashed, by the emulator's own truth."""
    return {part: sum(counts.values()) for part, counts in fleet.truth(server.name)["flashes"].items() if counts}
