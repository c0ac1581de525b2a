"""Every emulated server takes a package by each transport that it advertises, once; what it refuses is told apart."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.testing import Bmc, EmulatedFleet
from profiles.firmware.component import Transport
from provisioner.errors import BmcRefused, BmcUnreachable, OneTargetOnly
from provisioner.redfish.tls import TlsMode
from tests.redfish.emulated import INVENTORY, PERSONAS, TIMEOUTS, Flashable, faulty, files, finished, flashable, ours
from tests.redfish.site import Site

pytestmark = pytest.mark.xdist_group("redfish-transports")  # one fleet for all of them
HGX, DELL, GB200, BLUEFIELD, DGX, B200, HPE, LENOVO, SWITCH = range(len(PERSONAS))
PULL, FORM, RAW = Transport.SIMPLE_UPDATE, Transport.MULTIPART, Transport.HTTP_PUSH
OFFERED = {
    HGX: (PULL, FORM, RAW),
    DELL: (PULL, FORM),
    GB200: (FORM, RAW),
    BLUEFIELD: (PULL, FORM, RAW),
    DGX: (PULL, FORM, RAW),
    B200: (PULL, FORM, RAW),
    HPE: (PULL, RAW),
    LENOVO: (PULL, FORM, RAW),
    SWITCH: (FORM, RAW),
}


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


def _flashable(fleet: EmulatedFleet, which: int, folder: Path) -> Flashable:
    return flashable(fleet, fleet.bmcs[which], folder)


@pytest.mark.parametrize("which", sorted(OFFERED), ids=PERSONAS)
async def test_transports_are_those_that_the_service_advertises(fleet: EmulatedFleet, site: Site, which: int) -> None:
    """DMTF/Redfish-Tacklebox#99: methods are chosen from the advertised set. iDRAC's push only stores an image."""
    async with ours(site, fleet.bmcs[which]) as bmc:
        offer = await bmc.update_offer()
    assert offer.transports == OFFERED[which]
    assert not offer.busy


@pytest.mark.parametrize(("which", "transport"), [(which, one) for which, ways in OFFERED.items() for one in ways])
async def test_each_transport_flashes_the_named_part_once(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int, transport: Transport
) -> None:
    """With strict parts (stmcginnis/gofish#132): names, order and media types of DSP0266 are kept."""
    thing = _flashable(fleet, which, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "strict-parts"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url, transports=(transport,)))
            assert uri is not None
            assert (await finished(bmc, uri)).state == "Completed"
    assert thing.flashed(fleet) == before + 1


async def test_oem_parameters_go_in_a_part_of_their_own(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """Supermicro's preserve flags: without them a BIOS update resets the settings, so no other transport will do."""
    thing = _flashable(fleet, HGX, tmp_path)
    oem = {"Supermicro": {"BIOS": {"PreserveNVRAM": True}}}
    async with files(tmp_path) as url, ours(site, fleet.bmcs[HGX]) as bmc:
        uri = await bmc.start_update(thing.order(url, oem=oem))
        assert uri is not None
        assert (await finished(bmc, uri)).state == "Completed"
        with pytest.raises(BmcRefused, match="SimpleUpdate cannot carry the OEM parameters"):
            await bmc.start_update(thing.order(url, oem=oem, transports=(PULL,)))


@pytest.mark.parametrize(("parts", "which"), [(None, HPE), (0, GB200), (None, LENOVO)])
async def test_targets_may_be_left_out_or_empty(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, parts: int | None, which: int
) -> None:
    """GB200: an empty list is the BMC's own tray; elsewhere no Targets is everything that the file is for."""
    thing = _flashable(fleet, which, tmp_path)
    async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
        uri = await bmc.start_update(thing.order(url, parts=parts))
        assert uri is not None
        await finished(bmc, uri)
        looked = await bmc.tasks()
    asked = next(task for task in looked if task.uri == uri)
    assert asked.targets == ()


@pytest.mark.parametrize("which", [HGX, DELL, BLUEFIELD, DGX, LENOVO])
@pytest.mark.parametrize(("method", "status"), [("SimpleUpdate", 400), ("SimpleUpdate", 403), ("SimpleUpdate", 501)])
async def test_an_advertised_method_that_is_refused_gives_way_to_the_next(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, *, which: int, method: str, status: int
) -> None:
    """fwupd/fwupd#5128: without a licence the action is there, and refused. Each method is asked once."""
    thing = _flashable(fleet, which, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "update-method-refused", method=method, status=status):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            assert (await finished(bmc, uri)).state == "Completed"
    assert thing.flashed(fleet) == before + 1


async def test_when_all_are_refused_every_reason_is_kept(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """The first status, and the BMC's words for each (fwupd/fwupd#6954: first errors were lost)."""
    thing = _flashable(fleet, HGX, tmp_path)
    before = thing.flashed(fleet)
    said = "Not licensed to perform this request."
    with faulty(fleet, thing.name, "update-method-refused", status=403, text=said, times=3):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[HGX]) as bmc:
            with pytest.raises(BmcRefused) as raised:
                await bmc.start_update(thing.order(url))
            assert raised.value.status == 403
            assert all(f"{name}: " in raised.value.message for name in ("SimpleUpdate", "MultipartHttpPushUri"))
            assert raised.value.message.count(said) == 3
            uri = await bmc.start_update(thing.order(url))  # three refusals were all there were: none was asked twice
            assert uri is not None
            await finished(bmc, uri)
    assert thing.flashed(fleet) == before + 1


async def test_only_http_push_with_a_size_limit(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """DMTF/Redfish-Tacklebox#99: HttpPushUri alone, 70 MiB at most; what is larger is not sent."""
    thing = _flashable(fleet, GB200, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "only-http-push", bytes=60_000):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[GB200]) as bmc:
            offer = await bmc.update_offer()
            assert (offer.transports, offer.largest_bytes) == ((RAW,), 60_000)
            uri = await bmc.start_update(thing.order(url))
            assert uri is not None
            await finished(bmc, uri)
            thing.path.write_bytes(b"x" * 60_001)
            with pytest.raises(BmcRefused, match="60001 bytes, but MaxImageSizeBytes is 60000"):
                await bmc.start_update(thing.order(url))
    assert thing.flashed(fleet) == before + 1


@pytest.mark.parametrize("which", [HGX, GB200, LENOVO])
async def test_two_targets_are_one_too_many(fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int) -> None:
    """ansible-collections/community.general#5580: the caller sends one after the other."""
    thing = _flashable(fleet, which, tmp_path)
    parts = thing.parts if len(thing.parts) > 1 else thing.parts * 2
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "one-target-only"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            two = replace(thing.order(url), targets=tuple(f"{INVENTORY}/{part}" for part in parts[:2]))
            with pytest.raises(OneTargetOnly):
                await bmc.start_update(two)
            assert thing.flashed(fleet) == before
            assert await bmc.start_update(thing.order(url)) is not None


@pytest.mark.parametrize("shape", ["extended-info-object", "message-id-without-registry", "message-args-absent"])
async def test_a_refusal_is_understood_in_any_shape(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, shape: str
) -> None:
    """openstack/sushy, release notes fix-extended-info-error-handling and message-parsing-resilience."""
    thing = _flashable(fleet, GB200, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, shape), faulty(fleet, thing.name, "one-target-only"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[GB200]) as bmc:
            with pytest.raises(OneTargetOnly):
                await bmc.start_update(replace(thing.order(url), targets=(thing.order(url).targets or ()) * 2))
    assert thing.flashed(fleet) == before


async def test_a_session_that_was_forgotten_is_opened_again_and_the_push_goes_once(
    fleet: EmulatedFleet, site: Site, tmp_path: Path
) -> None:
    """openbmc/bmcweb#158: 401 says that nothing was acted on."""
    thing = _flashable(fleet, SWITCH, tmp_path)
    before = thing.flashed(fleet)
    async with files(tmp_path) as url, ours(site, fleet.bmcs[SWITCH]) as bmc:
        await bmc.update_offer()
        with faulty(fleet, thing.name, "sessions-forgotten", times=1):
            uri = await bmc.start_update(thing.order(url))
        assert uri is not None
        await finished(bmc, uri)
    assert thing.flashed(fleet) == before + 1


@pytest.mark.parametrize("which", [HGX, HPE, LENOVO])
async def test_a_bmc_that_is_busy_may_be_asked_again(
    fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int
) -> None:
    """503 on most, 400 on HPE, 409 on Lenovo: no is for now, by the message, and no other transport is tried."""
    thing = _flashable(fleet, which, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "foreign-task"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            with pytest.raises(BmcUnreachable, match="in progress"):
                await bmc.start_update(thing.order(url))
    assert thing.flashed(fleet) == before


async def test_a_push_uri_that_is_reserved_is_left_alone(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """DSP0268 HttpPushUriTargetsBusy: another client is between naming its targets and pushing."""
    thing = _flashable(fleet, SWITCH, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "foreign-task", busy=True):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[SWITCH]) as bmc:
            assert (await bmc.update_offer()).busy
            with pytest.raises(BmcUnreachable, match="reserved by another client"):
                await bmc.start_update(thing.order(url, transports=(RAW,)))
    assert thing.flashed(fleet) == before


@pytest.mark.parametrize("which", [HGX, DELL])
async def test_what_was_only_uploaded_is_started(fleet: EmulatedFleet, site: Site, tmp_path: Path, which: int) -> None:
    """fwupd/fwupd#4836: no task before UpdateService.StartUpdate; a second one finds nothing that waits."""
    thing = _flashable(fleet, which, tmp_path)
    before = thing.flashed(fleet)
    with faulty(fleet, thing.name, "needs-start-update"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[which]) as bmc:
            assert (await bmc.update_offer()).start_update
            assert await bmc.start_update(thing.order(url)) is None
            assert thing.flashed(fleet) == before
            uri = await bmc.start_staged()
            assert uri is not None
            assert (await finished(bmc, uri)).state == "Completed"
            with pytest.raises(BmcRefused):
                await bmc.start_staged()
    assert thing.flashed(fleet) == before + 1


async def test_a_service_that_does_not_answer_is_no_refusal(fleet: EmulatedFleet, site: Site, tmp_path: Path) -> None:
    """Intel-BMC/openbmc#45: 500 on the update service; nothing was sent, so it may be asked again."""
    thing = _flashable(fleet, DGX, tmp_path)
    with faulty(fleet, thing.name, "update-service-500"):
        async with files(tmp_path) as url, ours(site, fleet.bmcs[DGX]) as bmc:
            with pytest.raises(BmcUnreachable):
                await bmc.start_update(thing.order(url))
