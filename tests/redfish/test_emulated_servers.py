"""Emulated servers over HTTPS: three personas, and what goes wrong with them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.package import Header, build_package
from emulator.testing import Bmc, EmulatedFleet
from provisioner.errors import AnswerLost, BmcUnreachable, LoginBudgetSpent, LoginRefused, ResourceGone
from provisioner.models.boot import BootMethod
from provisioner.models.inventory import Power
from provisioner.models.package import Package
from provisioner.models.secret import Credentials, Secret
from provisioner.models.update import UpdateOrder
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import TlsMode
from tests.redfish.emulated import TIMEOUTS, address, files, finished, label, ours, until
from tests.redfish.site import Site

pytestmark = pytest.mark.xdist_group("redfish-fleet")  # one fleet for all of them
HGX, DELL, GB200 = range(3)


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One server of each persona; the GB200 insists on a new password."""
    bmcs = [Bmc("hgx-h100"), Bmc("dell-xe9680"), Bmc("gb200-compute-tray")]
    with EmulatedFleet(bmcs) as running:
        yield running


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site, closed at the end: no session may be left on any BMC."""
    made = Site(TlsMode.PIN, timeouts=TIMEOUTS)
    yield made
    await made.bmcs.close()


@pytest.mark.parametrize(("which", "gpus"), [(HGX, 8), (DELL, 8), (GB200, 4)])
async def test_a_server_from_first_contact_to_boot(fleet: EmulatedFleet, site: Site, which: int, gpus: int) -> None:
    """Probe, password, inventory, BIOS, boot override, reset: each where this vendor keeps it."""
    one = fleet.bmcs[which]
    assert await site.bmcs.probe(address(one)) is not None
    async with ours(site, one) as bmc:
        found = await bmc.inventory()
        assert found.identity.serial == one.serial
        assert found.identity.uuid == one.uuid
        assert len(found.gpus) == gpus
        assert found.architecture == ("aarch64" if which == GB200 else "x86_64")
        name, value = next((key, value) for key, value in (await bmc.bios()).items() if isinstance(value, str))
        await bmc.set_bios({name: value})
        target = "UefiHttp" if found.boot.http_boot_uri else "Pxe"
        uri = Secret("http://127.0.0.1:9/boot/k3y") if found.boot.http_boot_uri else None
        await bmc.set_boot_override(BootMethod(target, uri))
        assert await bmc.boot_override() == ("Once", target, uri.reveal() if uri else None)
        await bmc.reset("ForceOff")
        await bmc.reset("On")
        await until(lambda: fleet.truth(one.name)["power"] == "On")
        assert await bmc.power() is Power.ON
    truth = fleet.truth(one.name)
    assert (truth["sessions"], truth["locked"]) == (1, False)
    await site.bmcs.close()
    assert fleet.truth(one.name)["sessions"] == 0


async def test_a_reset_of_the_bmc_is_survived(fleet: EmulatedFleet, site: Site) -> None:
    """openbmc/bmcweb#158: tokens are lost at the reset of the BMC; the next call that finds it back logs in again."""
    one = fleet.bmcs[HGX]
    async with ours(site, one) as bmc:
        resets = fleet.truth(one.name)["resets"]
        await bmc.power()
        await bmc.reset_bmc()
        async with asyncio.timeout(20):
            while True:
                try:
                    assert await bmc.power() in Power
                    break
                except BmcUnreachable:
                    await asyncio.sleep(0.1)
    assert site.failures.counts == {}
    assert fleet.truth(one.name)["resets"] == resets


@pytest.mark.parametrize(
    ("fault", "arguments"),
    [
        ("html-answers", {"method": "GET", "path": "Systems"}),
        ("half-body", {"method": "GET", "path": "Systems"}),
        ("service-unavailable", {"method": "GET", "path": "Systems"}),
        ("refuse-connections", {}),
    ],
)
async def test_no_sense_is_no_answer(fleet: EmulatedFleet, site: Site, fault: str, arguments: dict[str, Any]) -> None:
    """Three tries, and then the operation's own patience."""
    one = fleet.bmcs[HGX]
    fleet.set_fault(one.name, fault, arguments)
    try:
        with pytest.raises(BmcUnreachable):
            async with site.bmcs.open(address(one), label(one)) as bmc:
                await bmc.inventory()
    finally:
        fleet.clear_fault(one.name, fault)
    async with ours(site, one) as bmc:
        assert (await bmc.inventory()).identity.serial == one.serial


@pytest.mark.parametrize("fault", ["silent", "post-answer-lost"])
async def test_a_lost_answer_is_one_reset(fleet: EmulatedFleet, fault: str) -> None:
    """stmcginnis/gofish#494: the BMC acts, the answer never comes; only reading back tells."""
    one = fleet.bmcs[HGX]
    site = Site(TlsMode.PIN, timeouts=Timeouts(connect_seconds=5.0, read_seconds=2.0))
    async with ours(site, one) as bmc:
        await bmc.reset("ForceOff")
        await until(lambda: fleet.truth(one.name)["power"] == "Off")
        path = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
        before = fleet.truth(one.name)["requests"][path]
        fleet.set_fault(one.name, fault, {"path": "Reset"})
        try:
            with pytest.raises(AnswerLost):
                await bmc.reset("On")
        finally:
            fleet.clear_fault(one.name, fault)
        assert fleet.truth(one.name)["requests"][path] == before + 1
        assert await bmc.power() is (Power.OFF if fault == "silent" else Power.ON)
    await site.bmcs.close()


async def test_a_password_left_by_the_last_owner_locks_nobody_out(fleet: EmulatedFleet, site: Site) -> None:
    """dsx-ai-factory/infra-controller#1294: two tries, then a person; the account stays open."""
    one = fleet.bmcs[DELL]
    wrong = Credentials(one.username, Secret("not-this-one"))
    failed = fleet.truth(one.name)["failed_logins"]
    for _ in range(4):
        with pytest.raises((LoginRefused, LoginBudgetSpent)):
            async with site.bmcs.open(address(one), wrong):
                pass
    truth = fleet.truth(one.name)
    assert truth["failed_logins"] == failed + 2
    assert truth["locked"] is False
    await site.failures.clear(str(address(one)), one.username)
    async with site.bmcs.open(address(one), label(one)) as bmc:
        await bmc.power()


async def test_no_free_session_is_no_wrong_password(fleet: EmulatedFleet, site: Site) -> None:
    """bb-Ricardo/check_redfish#89: wait until one of the others ends."""
    one = fleet.bmcs[DELL]
    fleet.set_fault(one.name, "session-limit", {"limit": 0})
    try:
        with pytest.raises(BmcUnreachable, match="session"):
            async with site.bmcs.open(address(one), label(one)):
                pass
        assert site.failures.counts == {}
    finally:
        fleet.clear_fault(one.name, "session-limit")


@pytest.mark.parametrize("how", ["partial", "links"])
@pytest.mark.parametrize("when", ["from the start", "later"])
async def test_a_broken_expand_costs_requests_and_nothing_else(
    fleet: EmulatedFleet, site: Site, how: str, when: str
) -> None:
    """dsx-ai-factory/infra-controller#4100: claimed but wrong; the plain reads are the truth."""
    one = fleet.bmcs[HGX]
    async with ours(site, one) as bmc:
        if when == "later":
            await bmc.inventory()
        fleet.set_fault(one.name, "expand-broken", {"how": how})
        try:
            broken = await bmc.inventory()
        finally:
            fleet.clear_fault(one.name, "expand-broken")
    assert len(broken.firmware) == 69
    assert len(broken.gpus) == 8
    assert all(component.version for component in broken.firmware)


async def test_a_patch_without_its_etag_would_be_refused(fleet: EmulatedFleet, site: Site) -> None:
    """ansible/ansible#60031: 428 without If-Match; every PATCH here carries the ETag that was just read."""
    one = fleet.bmcs[HGX]
    fleet.set_fault(one.name, "etag-required")
    try:
        async with ours(site, one) as bmc:
            await bmc.set_boot_override(BootMethod("Pxe", None))
            name, value = next((key, value) for key, value in (await bmc.bios()).items() if isinstance(value, str))
            await bmc.set_bios({name: value})
            await bmc.change_password(one.username, Secret(one.password))
    finally:
        fleet.clear_fault(one.name, "etag-required")


async def test_gb200_takes_firmware_by_push_only(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """GB200 and GB300 as recorded offer no SimpleUpdate."""
    path = tmp_path / "bios.fw"
    path.write_bytes(build_package(Header("bios", "gb200-compute-tray", "2.04.12"), 300_000))
    one = fleet.bmcs[GB200]
    async with ours(site, one) as bmc:
        target = next(part.uri for part in await bmc.firmware() if part.id == "UEFI")
        uri = await bmc.start_update(
            UpdateOrder(Package(path, "http://127.0.0.1:9/none", path.stat().st_size), (target,))
        )
        assert uri
        assert (await finished(bmc, uri)).state == "Completed"


async def test_supermicro_fetches_firmware_itself(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """SimpleUpdate: the BMC downloads from us."""
    path = tmp_path / "bios.fw"
    path.write_bytes(build_package(Header("bios", "hgx-h100", "BIOS Date: 02/14/2025 Ver 2.5"), 300_000))
    one = fleet.bmcs[HGX]
    async with files(tmp_path) as url, ours(site, one) as bmc:
        target = next(part.uri for part in await bmc.firmware() if part.id == "BIOS")
        uri = await bmc.start_update(UpdateOrder(Package(path, f"{url}/bios.fw", path.stat().st_size), (target,)))
        assert uri
        assert (await finished(bmc, uri)).state == "Completed"


async def test_a_task_that_has_vanished_is_gone(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """ironcore-dev/metal-operator#617: 404 for a task that succeeded; the caller judges by the running version."""
    path = tmp_path / "bios.fw"
    path.write_bytes(build_package(Header("bios", "dell-xe9680", "2.5.4"), 300_000))
    one = fleet.bmcs[DELL]
    fleet.set_fault(one.name, "task-vanishes", {"when": "start"})
    try:
        async with files(tmp_path) as url, ours(site, one) as bmc:
            target = next(part.uri for part in await bmc.firmware() if "BIOS" in part.id and part.updateable)
            uri = await bmc.start_update(UpdateOrder(Package(path, f"{url}/bios.fw", path.stat().st_size), (target,)))
            assert uri
            with pytest.raises(ResourceGone):
                await finished(bmc, uri)
    finally:
        fleet.clear_fault(one.name, "task-vanishes")
