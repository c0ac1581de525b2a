"""The protocol of DSP0266 beyond single resources: queries, ETags, roles, headers."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.redfish.filters import read_filter
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient

ACCOUNTS = "/redfish/v1/AccountService/Accounts"
ROLES = "/redfish/v1/AccountService/Roles"


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    with EmulatedFleet([Bmc("hgx-h100"), Bmc("dell-xe9680")]) as running:
        yield running


@pytest.fixture(scope="module")
def client(fleet: EmulatedFleet) -> BmcClient:
    return BmcClient(fleet.bmcs[0])


@pytest.fixture(scope="module")
def dell(fleet: EmulatedFleet) -> BmcClient:
    return BmcClient(fleet.bmcs[1])


def message_id(answer: object) -> str:
    return str(answer.json()["error"]["@Message.ExtendedInfo"][0]["MessageId"]).rpartition(".")[2]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("$nonsense=1", 501, "QueryNotSupported"),
        ("$expand=everything", 400, "QueryParameterValueFormatError"),
        ("$expand=.($levels=9)", 400, "QueryParameterOutOfRange"),
        ("$top=many", 400, "QueryParameterValueFormatError"),
        ("only", 200, ""),
        ("nonsense=1", 200, ""),
    ],
)
def test_query_that_cannot_be_answered_is_refused(client: BmcClient, query: str, status: int, message: str) -> None:
    """DSP0266, query parameters: unknown ones with $ 501, wrong values 400, all others are ignored."""
    answer = client.send("GET", f"/redfish/v1/Systems?{query}")
    assert answer.status_code == status
    assert not message or message_id(answer) == message


def test_parameters_of_collections_are_refused_on_resources(client: BmcClient) -> None:
    """DSP0266: only, $skip and $top are for collections."""
    for query in ("$top=1", "$skip=1"):
        answer = client.send("GET", f"/redfish/v1/SessionService?{query}")
        assert (answer.status_code, message_id(answer)) == (400, "QueryNotSupportedOnResource")


def test_only_gives_the_one_member(dell: BmcClient) -> None:
    """DSP0266, only: the member itself when there is one, else the collection; 400 for what is no collection."""
    assert dell.get("/redfish/v1/Systems?only")["Id"] == "System.Embedded.1"
    assert "Members" in dell.get(f"{ROLES}?only")
    assert message_id(dell.send("GET", "/redfish/v1/SessionService?only")) == "QueryNotSupportedOnResource"
    assert message_id(dell.send("GET", "/redfish/v1/Systems?only=one")) == "QueryParameterValueFormatError"


def test_filter_leaves_the_members_that_pass(dell: BmcClient) -> None:
    """DSP0266, $filter."""
    roles = dell.get(f"{ROLES}?$filter=not (Id eq 'ReadOnly')")
    assert (roles["Members@odata.count"], len(roles["Members"])) == (2, 2)
    assert message_id(dell.send("GET", f"{ROLES}?$filter=Id eqq 1")) == "QueryParameterValueFormatError"


def test_long_collection_comes_in_pages(dell: BmcClient) -> None:
    """DSP0266, Members@odata.nextLink; iDRAC gives fifty at a time."""
    path: str | None = "/redfish/v1/Chassis/System.Embedded.1/Sensors"
    found: list[str] = []
    while path:
        page = dell.get(path)
        assert len(page["Members"]) <= 50
        found += [member["@odata.id"] for member in page["Members"]]
        path = page.get("Members@odata.nextLink")
    assert len(set(found)) == len(found) == page["Members@odata.count"] > 50


def test_top_and_skip_cut_a_collection(client: BmcClient) -> None:
    """DSP0266, $top and $skip; the count stays that of the whole collection."""
    whole = client.get(ROLES)
    part = client.get(f"{ROLES}?$skip=1&$top=1")
    assert part["Members"] == whole["Members"][1:2]
    assert part["Members@odata.count"] == 3


def test_select_keeps_what_was_asked_for(client: BmcClient) -> None:
    """DSP0266, $select: the named properties and the annotations."""
    role = client.get(f"{ROLES}/ReadOnly?$select=Name,AssignedPrivileges")
    assert set(role) == {"@odata.id", "@odata.type", "Name", "AssignedPrivileges"}


def test_expand_tells_links_from_subordinates(client: BmcClient) -> None:
    """DSP0266, $expand: `.` what is outside of Links, `~` what is inside, `*` both."""

    def expanded(how: str) -> tuple[bool, bool]:
        root = client.get(f"/redfish/v1/?$expand={how}")
        return "Members" in root["Systems"], "Members" in root["Links"]["Sessions"]

    assert expanded(".") == (True, False)
    assert expanded("~") == (False, True)
    assert expanded("*") == (True, True)


def test_levels_expand_what_was_expanded(client: BmcClient) -> None:
    """DSP0266: $levels."""
    member = client.get("/redfish/v1/Systems?$expand=.($levels=2)")["Members"][0]
    assert len(member["Processors"]["Members"]) == 10


def test_known_etag_is_not_modified(client: BmcClient) -> None:
    """RFC 9110, If-None-Match; it never tells anything to those who may not read."""
    etag = client.send("GET", "/redfish/v1/Systems/1").headers["ETag"]
    again = client.send("GET", "/redfish/v1/Systems/1", headers={"If-None-Match": etag})
    assert (again.status_code, again.text) == (304, "")
    stranger = client.send("GET", "/redfish/v1/Systems/1", headers={"If-None-Match": etag}, auth=("nobody", "wrong"))
    assert stranger.status_code == 401
    assert stranger.headers["WWW-Authenticate"]


def test_answers_say_what_they_are(client: BmcClient) -> None:
    """DSP0266, response headers."""
    answer = client.send("GET", "/redfish/v1/AccountService")
    assert "AccountService.v1_" in answer.headers["Link"]
    assert answer.headers["Allow"].startswith("GET, HEAD")
    assert answer.headers["OData-Version"] == "4.0"
    assert client.send("GET", "/redfish/v1/", headers={"OData-Version": "4.1"}).status_code == 412
    assert client.send("FAKE", "/redfish/v1/").status_code in (405, 501)


def test_answers_are_compressed_where_the_server_does_so(dell: BmcClient) -> None:
    """RFC 9110, Accept-Encoding; iDRAC compresses."""
    plain = dell.send("GET", "/redfish/v1/Systems", headers={"Accept-Encoding": "identity"})
    for _ in range(2):  # the second one is an answer that was kept
        zipped = dell.send("GET", "/redfish/v1/Systems", headers={"Accept-Encoding": "gzip"})
        assert zipped.headers["Content-Encoding"] == "gzip"
        assert zipped.json() == plain.json()
    assert "Content-Encoding" not in plain.headers


def test_metadata_names_every_schema(client: BmcClient) -> None:
    """DSP0266, OData metadata document."""
    answer = client.send("GET", "/redfish/v1/$metadata")
    document = ET.fromstring(answer.content)
    namespaces = {part.get("Namespace") for part in document.iter("{http://docs.oasis-open.org/odata/ns/edmx}Include")}
    assert {"ServiceRoot", "ComputerSystem", "Bios"} <= namespaces


def test_roles_limit_what_an_account_may_do(client: BmcClient) -> None:
    """DSP0266, privileges of the predefined roles."""
    body = {"UserName": "reader", "Password": "Only-reading-1", "RoleId": "ReadOnly"}
    created = client.send("POST", ACCOUNTS, json=body)
    assert created.status_code == 201
    path, reader = created.headers["Location"], ("reader", "Only-reading-1")
    assert client.send("GET", "/redfish/v1/Systems/1", auth=reader).status_code == 200
    reset = client.send(
        "POST", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", auth=reader, json={"ResetType": "On"}
    )
    assert (reset.status_code, message_id(reset)) == (403, "InsufficientPrivilege")
    assert client.send("PATCH", f"{ACCOUNTS}/2", auth=reader, json={"Password": "Not-yours-12"}).status_code == 403
    assert client.send("PATCH", path, auth=reader, json={"RoleId": "Administrator"}).status_code == 400
    assert client.send("PATCH", path, auth=reader, json={"Password": "Another-one-1"}).status_code == 200
    assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", "/redfish/v1/Systems/1", auth=("reader", "Another-one-1")).status_code == 401


def test_stale_etag_writes_nothing(client: BmcClient) -> None:
    """RFC 9110, If-Match; a tag is compared as a whole."""
    created = client.send("POST", ACCOUNTS, json={"UserName": "x", "Password": "Changing-1a", "RoleId": "ReadOnly"})
    path = created.headers["Location"]
    answer = client.send("GET", path)
    etag = answer.headers["ETag"]
    assert answer.json()["@odata.etag"] == etag
    change = {"RoleId": "Operator"}
    assert client.send("PATCH", path, json=change, headers={"If-Match": f"{etag}more"}).status_code == 412
    assert client.send("PATCH", path, json=change, headers={"If-Match": etag}).status_code == 200
    assert client.send("PATCH", path, json={"RoleId": "ReadOnly"}, headers={"If-Match": etag}).status_code == 412
    assert client.get(path)["RoleId"] == "Operator"
    client.send("DELETE", path).raise_for_status()


ROLE = {"Id": "Operator", "Count": 3, "Status": {"Health": "OK"}}


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Id eq 'Operator'", True),
        ("not (Id eq 'Operator')", False),
        ("Id eq 'X' or Count ge 3", True),
        ("Id eq 'X' or Count gt 3 and Count lt 9", False),
        ("Status/Health eq 'OK' and Missing eq null", True),
        ("Count ne 'three'", True),
    ],
)
def test_filter_decides(text: str, passes: bool) -> None:
    """DSP0266, $filter: operators and their order."""
    assert read_filter(text)(ROLE) is passes


@given(st.text(alphabet="Id eqnotandr()'0123/ .", max_size=60))
@settings(deadline=None)
def test_filter_reads_or_refuses_anything(text: str) -> None:
    """No text is a crash."""
    try:
        predicate = read_filter(text)
    except ValueError:
        return
    predicate(ROLE)
