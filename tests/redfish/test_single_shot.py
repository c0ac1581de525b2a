"""What changes something is sent once, whatever happens; what only reads is tried three times."""

import inspect

import aiohttp
import pytest
from sushy.connector import Connector

from provisioner.errors import AnswerLost, BmcRefused, BmcUnreachable, ResourceGone
from provisioner.models.boot import BootMethod
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import TlsMode
from tests.redfish.raw_server import Misbehaviour, RawBmc, Reply, answer, raw
from tests.redfish.site import Site, site_of
from tests.redfish.tree_server import CREDENTIALS

SYSTEM = "/redfish/v1/Systems/1"
RESET = f"POST {SYSTEM}/Actions/ComputerSystem.Reset"
PATCH = f"PATCH {SYSTEM}"
HALF = answer(200, {"PowerState": "On", "Id": "1"}).replace(b'"Id":"1"}', b"")
NO_ANSWERS: dict[str, Reply] = {
    "HTML": answer(200, b"<html><body>Please log in</body></html>", "Content-Type: text/html"),
    "HTML 404": answer(404, b"<html>no such page</html>"),
    "503": answer(503, {"error": {"message": "starting"}}),
    "500": answer(500, b""),
    "empty": answer(200, b""),
    "a list": answer(200, [1, 2]),
    "half a document": answer(200, b'{"PowerState": "O'),
    "fewer bytes than promised": answer(200, b"{}").replace(b"Content-Length: 2", b"Content-Length: 9999"),
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "silence": Misbehaviour.SILENCE,
    "reset": Misbehaviour.RESET,
    "redirect elsewhere": answer(302, None, "Location: http://203.0.113.9/redfish/v1/"),
}
IMPATIENT = Timeouts(connect_seconds=1.0, read_seconds=0.4)


def test_sushy_still_has_the_attribute_that_we_replace() -> None:
    """sushy 5.14 sends through `Connector._session.request` and nothing else."""
    assert Connector("http://127.0.0.1:1")._session is not None
    assert "self._session.request(" in inspect.getsource(Connector._op)


async def test_aiohttp_still_has_the_switch_that_we_turn() -> None:
    """aiohttp repeats GET, PUT and DELETE on a kept connection that died unless `_retry_connection` is off."""
    session = aiohttp.ClientSession()
    assert session._retry_connection is True
    await session.close()


@pytest.mark.parametrize(
    "reply",
    [Misbehaviour.SILENCE, Misbehaviour.RESET, Misbehaviour.DRIP, answer(500, {}), answer(502, b"<html>")],
)
async def test_a_reset_without_an_answer_is_sent_once(reply: Reply) -> None:
    """Stock sushy 5.14 sent ComputerSystem.Reset ten times to a silent server; here exactly once."""
    bmc = RawBmc()
    bmc.replies[RESET] = reply
    async with raw(bmc) as address:
        site = Site(TlsMode.PLAIN, timeouts=IMPATIENT)
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            with pytest.raises(AnswerLost, match=str(address)):
                await opened.reset("ForceRestart")
        await site.bmcs.close()
    assert bmc.count(RESET) == 1


async def test_a_boot_override_without_an_answer_is_sent_once() -> None:
    """The same for PATCH."""
    bmc = RawBmc()
    bmc.replies[PATCH] = Misbehaviour.RESET
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        with pytest.raises(AnswerLost):
            await opened.set_boot_override(BootMethod("Pxe", None))
    assert bmc.count(PATCH) == 1


async def test_a_stale_etag_is_refused_and_not_dropped() -> None:
    """Stock sushy answers 412 by a PATCH without If-Match, which overwrites what somebody else has just set."""
    bmc = RawBmc()
    bmc.replies[PATCH] = answer(412, {"error": {"@Message.ExtendedInfo": [{"Message": "The ETag is stale."}]}})
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        with pytest.raises(BmcRefused, match=r"412 The ETag is stale\.") as refused:
            await opened.set_boot_override(BootMethod("Pxe", None))
    assert refused.value.status == 412
    assert bmc.count(PATCH) == 1


@pytest.mark.parametrize("what", NO_ANSWERS)
async def test_a_read_that_makes_no_sense_is_tried_three_times(what: str) -> None:
    """BMCs answer so while they start, are busy, or sit behind a portal: never a reason to judge the node."""
    bmc = RawBmc()
    async with raw(bmc) as address:
        site = Site(TlsMode.PLAIN, timeouts=IMPATIENT)
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            await opened.power()
            before = bmc.count(f"GET {SYSTEM}")
            bmc.replies[f"GET {SYSTEM}"] = NO_ANSWERS[what]
            with pytest.raises(BmcUnreachable, match=str(address)) as unreachable:
                await opened.power()
        await site.bmcs.close()
    tries = 4 if what in {"reset"} else 3  # a kept connection that the peer has closed costs no try
    assert bmc.count(f"GET {SYSTEM}") - before == tries
    assert len(unreachable.value.message) < 250
    assert site.failures.counts == {}


@pytest.mark.parametrize("what", ["HTML", "503", "half a document", "reset"])
async def test_the_same_holds_for_what_sushy_reads(what: str) -> None:
    """sushy reads in threads through the other transport."""
    bmc = RawBmc()
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.power()
        before = bmc.count(f"GET {SYSTEM}")
        bmc.replies[f"GET {SYSTEM}"] = NO_ANSWERS[what]
        with pytest.raises(BmcUnreachable, match=str(address)):
            await opened.reset("ForceOff")
    assert bmc.count(f"GET {SYSTEM}") - before == 3
    assert bmc.count(RESET) == 0


async def test_nobody_listening_is_unreachable_and_no_failed_login() -> None:
    """A BMC without power must not look like a wrong password."""
    bmc = RawBmc()
    async with raw(bmc) as address:
        pass
    async with site_of() as site:
        with pytest.raises(BmcUnreachable, match="no connection"):
            async with site.bmcs.open(address, CREDENTIALS):
                pass
        assert site.failures.counts == {}


async def test_retry_after_is_honoured_up_to_a_limit() -> None:
    """RFC 9110 section 10.2.3; sushy's own task monitor fails on the number."""
    bmc = RawBmc()
    answers = [answer(503, {}, "Retry-After: 7"), answer(503, {}, "Retry-After: 99999999999")]
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.power()
        bmc.replies[f"GET {SYSTEM}"] = lambda: answers.pop(0) if answers else answer(200, {"PowerState": "Off"})
        assert await opened.power() == "Off"
        assert [one.total_seconds() for one in site.clock.asked] == [7, 30]


async def test_a_bmc_that_has_lost_its_own_system_is_starting() -> None:
    """OpenBMC answers 404 for the system until its inventory is there; that is no reason to judge the node."""
    bmc = RawBmc()
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.power()
        bmc.replies[f"GET {SYSTEM}"] = answer(404, {"error": {"message": "not found"}})
        with pytest.raises(BmcUnreachable, match="does not have its own"):
            await opened.power()
        del bmc.replies[f"GET {SYSTEM}"]
        assert await opened.power() == "On"


async def test_gone_is_gone_at_once() -> None:
    """A task that the BMC has forgotten (ironcore-dev/metal-operator#617) is no reason to wait."""
    bmc = RawBmc()
    task = "/redfish/v1/TaskService/Tasks/9"
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        with pytest.raises(ResourceGone):
            await opened.task(task)  # type: ignore[arg-type]  # a TaskUri is a str
    assert bmc.count(f"GET {task}") == 1


async def test_a_kept_connection_that_has_died_takes_no_post() -> None:
    """BMCs close idle connections without a word; a POST into one of those would be lost, so it gets a new one."""
    bmc = RawBmc()
    async with raw(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.reset("On")
        for writer in bmc.written:
            writer.transport.abort()
        await opened.reset("On")
    assert bmc.count(RESET) == 2
