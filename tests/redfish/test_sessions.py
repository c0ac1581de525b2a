"""Logins: counted, never one too many, one session for everybody, given back at the end."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from aiohttp import web

from provisioner.errors import BmcUnreachable, LoginBudgetSpent, LoginRefused
from provisioner.models.secret import Credentials, Secret
from provisioner.redfish.tls import TlsMode
from tests.redfish.site import Site, site_of
from tests.redfish.small_server import SYSTEM, small
from tests.redfish.tree_server import CREDENTIALS, TreeBmc, serving

LOGIN = "POST /redfish/v1/SessionService/Sessions"
WRONG = Credentials("admin", Secret("wrong-password-77"))


async def test_a_third_login_is_never_tried() -> None:
    """Some BMCs lock an account at three failures; Gigabyte MegaRAC and Supermicro at five and three as recorded."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:
        for _ in range(2):
            with pytest.raises(LoginRefused):
                async with site.bmcs.open(address, WRONG):
                    pass
        with pytest.raises(LoginBudgetSpent):
            async with site.bmcs.open(address, WRONG):
                pass
        assert site.failures.counts == {(str(address), "admin"): 2}
    assert bmc.requests[LOGIN] == 2


async def test_the_budget_outlives_a_restart() -> None:
    """Or a service that crashes in a loop would lock every account of the site."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:
        for _ in range(4):
            with pytest.raises((LoginRefused, LoginBudgetSpent)):
                async with site.bmcs.open(address, WRONG):
                    pass
            await site.bmcs.close()
            site.started()
    assert bmc.requests[LOGIN] == 2


async def test_callers_at_once_share_the_budget() -> None:
    """Twenty tasks with one wrong password are two logins."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:

        async def attempt() -> None:
            async with site.bmcs.open(address, WRONG):
                pass

        outcomes = await asyncio.gather(*(attempt() for _ in range(20)), return_exceptions=True)
    assert {type(one) for one in outcomes} == {LoginRefused, LoginBudgetSpent}
    assert bmc.requests[LOGIN] == 2


async def test_a_success_forgives() -> None:
    """The BMC's own counter starts anew as well."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:
        with pytest.raises(LoginRefused):
            async with site.bmcs.open(address, WRONG):
                pass
        async with site.bmcs.open(address, CREDENTIALS):
            pass
        assert site.failures.counts == {}


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_an_unclear_no_counts_as_a_refusal(status: int) -> None:
    """iLO answers 400 (UnauthorizedLoginAttempt) to a wrong password."""
    bmc = TreeBmc(small())
    bmc.responses[LOGIN.lower().replace("post", "POST")] = lambda: web.json_response({"error": {}}, status=status)
    async with serving(bmc) as address, site_of() as site:
        with pytest.raises(LoginRefused):
            async with site.bmcs.open(address, CREDENTIALS):
                pass
        assert site.failures.counts == {(str(address), "admin"): 1}


def _full_idrac() -> web.Response:
    words = "The maximum number of user sessions is reached."
    return web.json_response({"error": {"@Message.ExtendedInfo": [{"Message": words}]}}, status=400)


def _full_openbmc() -> web.Response:
    info = {"MessageId": "Base.1.13.SessionLimitExceeded", "Message": "The session establishment failed."}
    return web.json_response({"error": {"@Message.ExtendedInfo": info}}, status=503)


@pytest.mark.parametrize("answer", [_full_idrac, _full_openbmc])
async def test_a_full_session_table_is_waited_for_and_nobodys_session_is_purged(
    answer: Callable[[], web.Response],
) -> None:
    """iDRAC and OpenBMC answer so; the sessions belong to people and other tools."""
    bmc = TreeBmc(small())
    bmc.responses["POST /redfish/v1/sessionservice/sessions"] = answer
    async with serving(bmc) as address, site_of() as site:
        with pytest.raises(BmcUnreachable):
            async with site.bmcs.open(address, CREDENTIALS):
                pass
        assert site.failures.counts == {}
    assert not any(what.startswith("DELETE") for what in bmc.requests)
    assert bmc.requests[LOGIN] == 1


async def test_one_session_serves_all_callers_and_is_deleted_at_the_end() -> None:
    """OpenBMC has 64 session slots, iDRAC 8, and a client that leaks them locks everybody out."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:
        for _ in range(3):
            async with site.bmcs.open(address, CREDENTIALS) as opened:
                await opened.power()
                await opened.reset("On")
        assert len(bmc.sessions) == 1
        await site.bmcs.close()
        assert bmc.sessions == {}
    assert bmc.requests[LOGIN] == 1


async def test_an_idle_session_is_given_back() -> None:
    """Sessions are few; a fleet of idle ones is of no use to anybody."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address:
        site = Site(TlsMode.PLAIN, idle_session=timedelta(milliseconds=50))
        async with site.bmcs.open(address, CREDENTIALS):
            pass
        for _ in range(100):
            await asyncio.sleep(0.02)
            if not bmc.sessions:
                break
        assert bmc.sessions == {}
        async with site.bmcs.open(address, CREDENTIALS) as opened:
            assert await opened.power() == "On"
        await site.bmcs.close()


@pytest.mark.parametrize("call", ["power", "reset", "inventory"])
async def test_a_bmc_reset_loses_the_session_and_the_next_call_logs_in_again(call: str) -> None:
    """Sessions live in the BMC's memory. A 401 was not acted on, so that the call may go out again."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.inventory()
        bmc.sessions.clear()
        await (opened.reset("On") if call == "reset" else getattr(opened, call)())
        assert site.failures.counts == {}
    assert bmc.requests[LOGIN] == 2
    assert [key for key, _ in bmc.bodies if "reset" in key] == (
        [f"POST {SYSTEM}/Actions/ComputerSystem.Reset".lower().replace("post", "POST")] if call == "reset" else []
    )


async def test_a_session_that_is_refused_as_soon_as_it_is_open_is_an_outage() -> None:
    """One new login for one lost session, no loop; the login worked, so the password is not to blame."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.power()
        bmc.responses[f"GET {SYSTEM}".lower().replace("get", "GET")] = lambda: web.json_response({}, status=401)
        with pytest.raises(BmcUnreachable, match="lost the session"):
            await opened.power()
    assert bmc.requests[LOGIN] == 4  # the first one, and one for each of the three tries of a read


async def test_another_password_is_another_login() -> None:
    """`open` with the new password must show that it works; the old session proves nothing."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:
        async with site.bmcs.open(address, CREDENTIALS):
            pass
        with pytest.raises(LoginRefused):
            async with site.bmcs.open(address, WRONG):
                pass
        assert bmc.sessions == {}


async def test_a_changed_password_ends_the_session_made_with_the_old_one() -> None:
    """What follows logs in with the new one, which shows whether the BMC took it."""
    bmc = TreeBmc(small())
    new = Secret("a-new-password-9")
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        await opened.change_password("admin", new)
        assert bmc.bodies == [("PATCH /redfish/v1/accountservice/accounts/2", {"Password": new.reveal()})]
        bmc.password = new.reveal()
        await opened.power()
    assert bmc.requests[LOGIN] == 2


async def test_without_a_session_service_every_request_carries_the_password_and_counts() -> None:
    """sushy-tools is such a service: each refused request is a failed login there."""
    documents = small()
    root = documents["/redfish/v1"]
    del root["Links"], root["SessionService"]
    bmc = TreeBmc(documents)
    for path in ("/redfish/v1/systems",):
        bmc.responses[f"GET {path}"] = lambda: web.json_response({}, status=401)
    async with serving(bmc) as address, site_of() as site:
        for _ in range(3):
            with pytest.raises((LoginRefused, LoginBudgetSpent)):
                async with site.bmcs.open(address, CREDENTIALS):
                    pass
        assert site.failures.counts == {(str(address), "admin"): 2}
    assert bmc.requests["GET /redfish/v1/Systems"] == 2


async def test_without_a_session_service_the_password_opens_reads_and_writes() -> None:
    """Basic authentication (DSP0266, 13.3.3), only where there are no sessions."""
    documents = small()
    root = documents["/redfish/v1"]
    del root["Links"], root["SessionService"]
    bmc = TreeBmc(documents)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        assert (await opened.inventory()).identity.serial == "S100"
        await opened.reset("On")
    assert len(bmc.bodies) == 1
    assert bmc.sessions == {}
