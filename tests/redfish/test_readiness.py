"""A BMC that restarts is ready when all that an update needs answers whole; copies and protection are read too."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from emulator.testing import Bmc, EmulatedFleet
from provisioner.redfish.tls import TlsMode
from tests.redfish.emulated import PERSONAS, TIMEOUTS, faulty, ours
from tests.redfish.site import Site
from tests.redfish.small_server import FIRMWARE, small
from tests.redfish.tree_server import TreeBmc, opened, recorded

pytestmark = pytest.mark.xdist_group("redfish-readiness")  # one fleet for all of them


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One server of each persona."""
    with EmulatedFleet([Bmc(persona) for persona in PERSONAS]) as running:
        yield running


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site, closed at the end."""
    made = Site(TlsMode.PIN, timeouts=TIMEOUTS)
    yield made
    await made.bmcs.close()


@pytest.mark.parametrize("which", range(len(PERSONAS)), ids=PERSONAS)
async def test_a_server_at_rest_is_ready(fleet: EmulatedFleet, site: Site, which: int) -> None:
    """And none of its firmware is being copied."""
    async with ours(site, fleet.bmcs[which]) as bmc:
        assert await bmc.ready()
        assert not any(part.copying for part in await bmc.firmware())


@pytest.mark.parametrize(
    ("which", "fault", "arguments"),
    [
        (0, "inventory-late", {"seconds": 3.0}),
        (1, "bmc-back-late", {"seconds": 3.0}),
        (4, "bmc-outage-profile", {"refuse": 1.0, "unavailable": 1.0, "login": 0.0, "partial": 2.0}),
    ],
)
async def test_it_is_not_ready_before_the_whole_inventory_is_back(
    fleet: EmulatedFleet, site: Site, *, which: int, fault: str, arguments: dict[str, Any]
) -> None:
    """fwupd/fwupd#4531, Mellanox/dpu-update#96, sonic-net/sonic-platform-common#707: the root answers long before.

    A list that is short and counts right cannot be told from a whole one: callers look again, and by component class.
    """
    one = fleet.bmcs[which]
    async with ours(site, one) as bmc:
        whole = {part.id for part in await bmc.firmware()}
        with faulty(fleet, one.name, fault, **arguments):
            before = fleet.truth(one.name)["bmc_resets"]
            await bmc.reset_bmc()
            async with asyncio.timeout(30):
                while fleet.truth(one.name)["bmc_resets"] == before:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.02)
                looks: list[bool] = []
                while False not in looks or not looks[-1]:
                    looks.append(await bmc.ready())
                    await asyncio.sleep(0.1)
                while {part.id for part in await bmc.firmware()} != whole:
                    assert fault == "bmc-outage-profile", "ready, and not whole"
                    await asyncio.sleep(0.1)


@pytest.mark.parametrize("missing", ["member", "count", "service", "manager"])
async def test_what_is_listed_has_to_answer(missing: str) -> None:
    """A collection that names more than answers is one that still grows."""
    tree = TreeBmc(small())
    async with opened(tree) as bmc:
        assert await bmc.ready()
        if missing == "member":
            del tree.documents[f"{FIRMWARE}/bios".lower()]
        elif missing == "count":
            tree.documents[FIRMWARE.lower()]["Members@odata.count"] = 3
        elif missing == "service":
            tree.documents["/redfish/v1/updateservice"]["ServiceEnabled"] = False
        else:
            del tree.documents["/redfish/v1/managers/bmc"]
        assert not await bmc.ready()


async def test_a_root_of_trust_that_copies_marks_what_it_protects() -> None:
    """GB200 as recorded: the chassis of the ERoT says so, the inventory entries do not."""
    tree = TreeBmc(recorded("nvidia-gb200-nvl-compute-tray"))
    rot = tree.documents["/redfish/v1/chassis/hgx_erot_bmc_0"]
    async with opened(tree) as bmc:
        assert not any(part.copying for part in await bmc.firmware())
        rot["Oem"]["Nvidia"]["BackgroundCopyStatus"] = "InProgress"
        copying = {part.id for part in await bmc.firmware() if part.copying}
        reads = tree.reads
        await bmc.firmware()
        each = tree.reads - reads
    assert copying == {"HGX_FW_ERoT_BMC_0", "HGX_FW_BMC_0"}
    entries = len([path for path in tree.documents if path.startswith(f"{FIRMWARE.lower()}/")])
    assert each <= entries + 12, "of 42 chassis only the roots of trust are read again"


@pytest.mark.parametrize(
    ("machine", "protected"),
    [("lenovo-sr670v2-xcc", 0), ("supermicro-sys-821ge-tnhr", 16), ("nvidia-gb200-nvl-compute-tray", 0)],
)
async def test_write_protection_is_believed_where_it_means_something(machine: str, protected: int) -> None:
    """Lenovo says of every entry that it is write protected and updateable."""
    async with opened(TreeBmc(recorded(machine))) as bmc:
        parts = await bmc.firmware()
    assert sum(part.write_protected for part in parts) == protected
    assert any(part.related for part in parts) or machine.startswith(("supermicro", "lenovo"))
