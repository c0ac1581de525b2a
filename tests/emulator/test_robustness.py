"""Whatever a client sends, a BMC answers as Redfish says; the emulator itself never fails."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.redfish.routes import ROUTES
from tests.emulator.bmc_client import BmcClient
from tests.emulator.conftest import Museum

_NAMES = ("Boot", "BootSourceOverrideTarget", "Attributes", "Targets", "ImageURI", "ResetType", "UserName", "Password")
_VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(_NAMES)
_JSON: st.SearchStrategy[Any] = st.recursive(
    _VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3),
    max_leaves=8,
)
# Not these: they change what the other tests of the museum rely on.
_QUIET = ("Accounts/{}", "Reset", "Sessions")


def paths(museum: Museum, persona: str) -> list[str]:
    client = BmcClient(museum[persona])
    system = client.get("/redfish/v1/Systems")["Members"][0]["@odata.id"].rpartition("/")[2]
    found = [route.path for route in ROUTES if not any(word in route.path for word in _QUIET)]
    settings_object = client.get(f"/redfish/v1/Systems/{system}/Bios")["@Redfish.Settings"]["SettingsObject"][
        "@odata.id"
    ]
    return [*(path.replace("{}", system, 1) for path in found), settings_object]


@pytest.mark.parametrize("persona", ["hgx-h100", "gb200-compute-tray"])
@given(data=st.data())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_to_any_path_is_answered_as_redfish(museum: Museum, persona: str, data: st.DataObject) -> None:
    """DSP0266: 4xx with an error object, never a failure of the service."""
    client = BmcClient(museum[persona])
    path = data.draw(st.sampled_from(paths(museum, persona)))
    method = data.draw(st.sampled_from(["GET", "HEAD", "PATCH", "POST", "DELETE", "PUT"]))
    body = data.draw(_JSON)
    answer = client.send(method, path, json=body)
    assert answer.status_code < 500 or answer.status_code == 503, f"{method} {path} {body}: {answer.text}"
    if answer.status_code >= 400 and method != "HEAD":
        assert answer.json()["error"]["@Message.ExtendedInfo"]
    client.http.close()


_NO_FILE = b'--b\r\nContent-Disposition: form-data; name="UpdateParameters"\r\n\r\n{}\r\n--b--'
_MULTIPART = "multipart/form-data; boundary=b"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Type": "multipart/form-data"}, b"x"),
        ({"Content-Type": _MULTIPART}, b"--b\r\n\r\n--b--"),
        ({"Content-Type": _MULTIPART}, _NO_FILE),
        ({"Content-Type": _MULTIPART}, _NO_FILE.replace(b"{}", b"[")),
        ({"Content-Type": "application/octet-stream"}, b"x"),
        ({"Authorization": "Basic !!!"}, b""),
        ({"X-Auth-Token": "none"}, b""),
    ],
)
def test_broken_uploads_and_credentials_are_refused(museum: Museum, headers: dict[str, str], body: bytes) -> None:
    """openbmc/webui-vue#140: multipart without the file part."""
    client = BmcClient(museum["hgx-h100"])
    if "Authorization" in headers or "X-Auth-Token" in headers:
        client.http.auth = None
    answer = client.send("POST", "/redfish/v1/UpdateService/upload", headers=headers, data=body)
    assert answer.status_code in (400, 401, 415), answer.text
