"""No secret in any error, log line or repr, also when the BMC repeats it."""

import logging
import traceback

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.errors import BmcError, BmcRefused, LoginRefused
from provisioner.models.boot import BootMethod
from provisioner.models.secret import Credentials, Secret
from provisioner.redfish.redact import redacted
from tests.redfish.site import site_of
from tests.redfish.small_server import small
from tests.redfish.tree_server import CREDENTIALS, TreeBmc, serving

PASSWORD = "uncommon-password-4711"


def _texts(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + str(error)


async def test_a_bmc_that_repeats_the_password_at_login(caplog: pytest.LogCaptureFixture) -> None:
    """The stub answers `wrong password <password>`, as web frameworks do."""
    caplog.set_level(logging.DEBUG)
    async with serving(TreeBmc(small())) as address, site_of() as site:
        with pytest.raises(LoginRefused) as refused:
            async with site.bmcs.open(address, Credentials("admin", Secret(PASSWORD))):
                pass
    assert PASSWORD not in _texts(refused.value)
    assert "wrong password ***" in str(refused.value)
    assert PASSWORD not in caplog.text


async def test_a_bmc_that_repeats_the_new_password(caplog: pytest.LogCaptureFixture) -> None:
    """Base.PropertyValueFormatError: "The value '<value>' for the property Password is not valid"."""
    caplog.set_level(logging.DEBUG)
    bmc = TreeBmc(small())
    words = {"error": {"message": f"The value '{PASSWORD}' for the property Password is not valid."}}
    bmc.responses["PATCH /redfish/v1/accountservice/accounts/2"] = lambda: web.json_response(words, status=400)
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        with pytest.raises(BmcRefused) as refused:
            await opened.change_password("admin", Secret(PASSWORD))
    assert PASSWORD not in _texts(refused.value)
    assert PASSWORD not in caplog.text


async def test_the_boot_key_and_the_token_stay_out(caplog: pytest.LogCaptureFixture) -> None:
    """The boot URI proves who asks for the image; the token is the session."""
    caplog.set_level(logging.DEBUG)
    bmc = TreeBmc(small())
    uri = f"http://10.0.0.1/boot/{PASSWORD}"

    def refuse() -> web.Response:
        return web.json_response({"error": {"message": f"{uri} and {next(iter(bmc.sessions))} are wrong"}}, status=400)

    bmc.responses["PATCH /redfish/v1/systems/1"] = refuse
    async with serving(bmc) as address, site_of() as site, site.bmcs.open(address, CREDENTIALS) as opened:
        with pytest.raises(BmcRefused) as refused:
            await opened.set_boot_override(BootMethod("UefiHttp", Secret(uri)))
        token = next(iter(bmc.sessions))
        assert token not in repr(opened.__dict__)
        for text in (_texts(refused.value), caplog.text):
            assert PASSWORD not in text
            assert token not in text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(secret=st.text(min_size=1), before=st.text(), after=st.text())
def test_whatever_the_secret_is(secret: str, before: str, after: str) -> None:
    """Also when it looks like a pattern or holds the name of the BMC's address."""
    with pytest.raises(BmcError) as raised, redacted(secret):
        raise BmcError("10.0.0.1:443", before + secret + after)
    if secret not in "***":
        assert secret not in raised.value.message
