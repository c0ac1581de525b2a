"""Whatever is sent to a BMC, it answers as DSP0266 says: no defect of the emulator (501 InternalError), no 500."""

import json
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.kind import load_kind
from emulator.persona.load import persona_names
from emulator.redfish.routes import ROUTES
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy")]

_PASSWORD = "Changed-once-1"
_JSON = {"Content-Type": "application/json"}
"""`json.dumps` writes Infinity, which is no JSON: that is to be refused too."""
_TRICKS = (
    "/",
    "//redfish//v1//",
    "/redfish/v1/../v1/Systems",
    "/redfish/v1/%2e%2e/%2e%2e/etc/passwd",
    "/redfish/v1/%00",
)
_MORE_TRICKS = (
    "/redfish/v1/Systems/%F0%9F%92%A5",
    "/redfish/v2",
    "/redfish/v1/Systems/1'%22<x>",
    "/redfish/v1/" + "a" * 4000,
)


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, BmcClient]]:
    with EmulatedFleet([Bmc(name) for name in persona_names()]) as fleet:
        found = {bmc.persona: BmcClient(bmc) for bmc in fleet.bmcs}
        for name, client in found.items():
            accounts = load_kind(name).persona.accounts
            if accounts.change_required:
                path = f"/redfish/v1/AccountService/Accounts/{accounts.id}"
                client.send("PATCH", path, json={"Password": _PASSWORD}).raise_for_status()
                client.http.auth = (accounts.username, _PASSWORD)
        yield found


@lru_cache
def paths(persona: str) -> tuple[str, ...]:
    """Every resource, every action, every handler with an id that is and one that is not."""
    tree = load_kind(persona).tree
    documents = [tree.render(path, lambda *_: "1") for path in tree.paths]
    targets = {target for document in documents for target in _targets(document)}
    patterns = {route.path.replace("{}", one) for route in ROUTES for one in ("1", "nothing")}
    return tuple(sorted({*tree.paths, *targets, *patterns, *_TRICKS, *_MORE_TRICKS}))


def _targets(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("target"), str):
            yield value["target"]
        for part in value.values():
            yield from _targets(part)


_NAMES = st.sampled_from(
    [
        *(
            "ResetType",
            "Boot",
            "Attributes",
            "Password",
            "UserName",
            "RoleId",
            "ImageURI",
            "Targets",
            "TransferProtocol",
        ),
        *("Destination", "Protocol", "Context", "Image", "Inserted", "AssetTag", "SetPoint", "NTP", "HTTPS", "Members"),
        *("SecureBootEnable", "ResetKeysType", "IndicatorLED", "LocationIndicatorActive", "@odata.id", "Oem", "Status"),
        *(
            "BootSourceOverrideTarget",
            "BootSourceOverrideEnabled",
            "BootOrder",
            "CertificateString",
            "SubscriptionType",
        ),
    ]
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | _NAMES
    | st.sampled_from(["On", "ForceOff", "Once", "Pxe", "OnReset", "http://127.0.0.1:9/x", "/redfish/v1/Systems/1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES | st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_QUERIES = st.sampled_from(["", "?$expand=*", "?$expand=.($levels=2)", "?$select=Id,Status/Health", "?$top=1&$skip=1"])
_QUERIES |= st.text("$expandselctfiro=.*~()'&%20/", max_size=20).map(lambda text: f"?{text}")


@pytest.mark.parametrize("persona", persona_names())
def test_any_request_gets_an_answer_of_the_protocol(clients: dict[str, BmcClient], persona: str) -> None:
    """DSP0266, 8.6: errors are JSON with a message of a registry."""
    client = clients[persona]

    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(
        st.sampled_from(["GET", "HEAD", "PATCH", "POST", "DELETE", "PUT", "OPTIONS"]),
        st.sampled_from(paths(persona)),
        _QUERIES,
        _VALUES | st.binary(max_size=60),
    )
    def ask(method: str, path: str, query: str, body: Any) -> None:
        if method == "DELETE" and "/Accounts/" in path:
            return
        content = {"data": body} if isinstance(body, bytes) else {"data": json.dumps(body), "headers": _JSON}
        check(method, path, _sent(client, method, path + query, **content))

    ask()


def check(method: str, path: str, answer: requests.Response) -> None:
    assert answer.status_code < 500 or answer.status_code in (501, 503), f"{method} {path}: {answer.status_code}"
    assert "InternalError" not in answer.text, f"{method} {path}"
    if answer.status_code >= 400 and method != "HEAD":
        error = answer.json()["error"]
        assert error["@Message.ExtendedInfo"][0]["MessageId"].count(".") >= 1, f"{method} {path}"


def test_huge_body_is_refused(clients: dict[str, BmcClient]) -> None:
    """RFC 9110, 413."""
    body = b'{"Boot": "' + b"x" * 2**21 + b'"}'
    headers = {"Content-Type": "application/json"}
    answer = clients["hgx-h100"].send("PATCH", "/redfish/v1/Systems/1", data=body, headers=headers)
    assert answer.status_code == 413


def test_deep_json_is_refused(clients: dict[str, BmcClient]) -> None:
    """A body of brackets must not exhaust the stack."""
    answer = clients["hgx-h100"].send("PATCH", "/redfish/v1/Systems/1", data=b"[" * 100_000)
    assert answer.status_code in (400, 415)


def _sent(client: BmcClient, method: str, path: str, **content: Any) -> requests.Response:
    """The answer; a BMC that was just told to restart is asked again."""
    for _ in range(50):
        try:
            return client.send(method, path, allow_redirects=False, **content)
        except requests.ConnectionError:
            time.sleep(0.1)
    raise AssertionError(f"{method} {path}: no answer")
