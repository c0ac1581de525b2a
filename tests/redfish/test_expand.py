"""$expand is claimed by nearly all recorded service roots; a probe decides, and the verdict can fall."""

from collections.abc import Callable

import pytest

from tests.redfish.site import site_of
from tests.redfish.small_server import FIRMWARE, SYSTEM, small
from tests.redfish.tree_server import CREDENTIALS, Documents, TreeBmc, honest, serving


def _bare(collection: Documents, _: TreeBmc) -> Documents:
    return collection


def _poorer(collection: Documents, bmc: TreeBmc) -> Documents:
    full = honest(collection, bmc)
    return {**full, "Members": [{k: v for k, v in one.items() if k != "Id"} for one in full["Members"]]}


def _stale(collection: Documents, bmc: TreeBmc) -> Documents:
    full = honest(collection, bmc)
    return {**full, "Members": [{**one, "Model": "?", "Version": "0.9"} for one in full["Members"]]}


def _short(collection: Documents, bmc: TreeBmc) -> Documents:
    full = honest(collection, bmc)
    return {**full, "Members": full["Members"][:-1]}


@pytest.mark.parametrize("lie", [_bare, _poorer, _stale, _short])
async def test_a_wrong_expansion_is_never_used(lie: Callable[[Documents, TreeBmc], Documents]) -> None:
    """Links only, properties missing, old values, members missing: the plain reads are the truth."""
    bmc = TreeBmc(small(), lie)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        found = await opened.inventory()
        asked = sum(count for what, count in bmc.requests.items() if "$expand" in what)
        again = await opened.inventory()
        assert sum(count for what, count in bmc.requests.items() if "$expand" in what) == asked
    assert [(one.id, one.name, one.version) for one in found.firmware] == [
        ("BMC", "BMC", "1.0"),
        ("BIOS", "BIOS", "1.0"),
    ]
    assert len(found.gpus) == 1
    assert found.gpus[0].model == "H100"
    assert again.firmware == found.firmware


async def test_a_proven_expansion_saves_the_reads_of_members() -> None:
    """Each collection is read both ways once per vendor, product, version and BMC firmware, and then at one go."""
    bmc = TreeBmc(small(), honest)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        first = await opened.inventory()
        again = await opened.inventory()
    assert again.requests < first.requests
    assert bmc.requests[f"GET {FIRMWARE}/BIOS"] <= 1
    assert again.firmware == first.firmware


async def test_an_expansion_that_breaks_later_loses_the_trust() -> None:
    """gofish falls back in the same way; here for all BMCs of that firmware."""
    bmc = TreeBmc(small(), honest)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        before = await opened.inventory()
        bmc.expander = None
        after = await opened.inventory()
        asked = sum(count for what, count in bmc.requests.items() if "$expand" in what)
        await opened.inventory()
        assert sum(count for what, count in bmc.requests.items() if "$expand" in what) == asked
    assert after.firmware == before.firmware
    assert after.processors == before.processors


async def test_a_proven_expansion_that_later_loses_members_is_noticed() -> None:
    """dsx-ai-factory/infra-controller#4100: half of the members; their number is still told."""
    bmc = TreeBmc(small(), honest)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        before = await opened.inventory()
        bmc.expander = _short
        assert (await opened.inventory()).firmware == before.firmware


async def test_pages_are_followed() -> None:
    """`Members@odata.nextLink` (DSP0266, 7.5.2): iDRAC and MegaRAC cut collections at 50 members."""
    documents = small()
    first = documents[FIRMWARE.lower()]
    documents[f"{FIRMWARE}/page2".lower()] = {"Members": first["Members"][1:]}
    documents[FIRMWARE.lower()] = {
        **first,
        "Members": first["Members"][:1],
        "Members@odata.nextLink": f"{FIRMWARE}/page2",
    }
    for expander in (honest, None):
        bmc = TreeBmc(documents, expander)
        async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
            assert [one.id for one in await opened.firmware()] == ["BMC", "BIOS"]
            assert [one.id for one in await opened.firmware()] == ["BMC", "BIOS"]


async def test_members_that_answer_404_are_left_out() -> None:
    """Recorded collections hold dangling members (HPE, pruned OpenBMC trees)."""
    documents = small()
    del documents[f"{SYSTEM}/Processors/CPU0".lower()]
    bmc = TreeBmc(documents)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        assert [one.id for one in (await opened.inventory()).processors] == ["GPU0"]
