"""The pure parts, for any input that a BMC may think of."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from provisioner.errors import AnswerLost, BmcError, BmcRefused, BmcUnreachable, LoginRefused, ResourceGone
from provisioner.models.identifiers import TaskUri
from provisioner.redfish.answer import Answer, judge, retry_after, seen
from provisioner.redfish.layout import host_of
from provisioner.redfish.messages import failure_in, ids_of, words_of
from provisioner.redfish.quirks.known import QUIRKS, traits_of
from provisioner.redfish.quirks.traits import Facts, Traits
from provisioner.redfish.reset import CLOSEST, closest
from provisioner.redfish.snapshot import Snapshot, link, links
from provisioner.redfish.started import started_task
from provisioner.redfish.tasks import task_of

_SPECIAL = """error @Message.ExtendedInfo Message MessageId message code Members @odata.id TaskState TaskStatus
PercentComplete Messages Payload JsonBody Targets TaskMonitor Boot Actions"""
_NAMES = st.text(max_size=4) | st.sampled_from(_SPECIAL.split())
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=6),
    max_leaves=12,
)


def _answer(status: int, body: Any, **headers: str) -> Answer:
    return Answer(status, CIMultiDict(headers), orjson.dumps(body))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "general", "@Message.ExtendedInfo": [{"Message": "a"}, {"Message": "b"}]}}, "a; b"),
        ({"error": {"@Message.ExtendedInfo": {"Message": "an object, not a list"}}}, "an object, not a list"),
        ({"error": {"@Message.ExtendedInfo": ["just a string"]}}, "just a string"),
        ({"@Message.ExtendedInfo": [{"MessageId": "Base.1.0.NoPermission"}]}, "Base.1.0.NoPermission"),
        ({"error": {"code": "Base.1.0.GeneralError", "message": "no details"}}, "no details"),
        ({"error": "a string"}, "a string"),
        ({"error": {"@Message.ExtendedInfo": None}}, ""),
        ({}, ""),
        (["?"], ""),
    ],
)
def test_the_words_of_a_bmc_in_all_shapes(body: Any, words: str) -> None:
    """Lists by the standard, objects (older iLO), strings, nothing."""
    assert words_of(orjson.dumps(body)) == words


@given(body=JSON, raw=st.binary(max_size=60))
def test_no_error_body_is_too_odd(body: Any, raw: bytes) -> None:
    """Never raises, never long."""
    assert len(words_of(orjson.dumps(body))) <= 500
    assert len(words_of(raw)) <= 500
    assert len(seen(raw)) < 200
    assert seen(raw).isprintable()


@given(status=st.integers(200, 599), body=JSON, method=st.sampled_from(["GET", "POST", "PATCH", "DELETE"]))
def test_each_answer_means_one_thing(status: int, body: Any, method: str) -> None:
    """A read says yes only with a JSON object; a write is lost at 5xx, as the BMC may have acted; 501 is a no."""
    expected = _meaning(status, body, reads=method == "GET")
    if expected is None:
        judge("10.0.0.1:443", method, "/x", _answer(status, body))
        return
    with pytest.raises(BmcError, match=r"^10\.0\.0\.1:443: ") as raised:
        judge("10.0.0.1:443", method, "/x", _answer(status, body))
    assert type(raised.value) is expected


def _meaning(status: int, body: Any, *, reads: bool) -> type[BmcError] | None:
    table: dict[int, type[BmcError]] = {401: LoginRefused, 404: ResourceGone, 410: ResourceGone}
    table |= dict.fromkeys((408, 429, 503), BmcUnreachable)
    if status < 300:
        return BmcUnreachable if reads and not isinstance(body, dict) else None
    if status < 400:
        return None if status == 303 and not reads else BmcUnreachable
    if status < 500 or (status == 501 and not reads):
        return table.get(status, BmcRefused)
    return table.get(status, BmcUnreachable if reads else AnswerLost)


@given(body=JSON, status=st.sampled_from([200, 202, 204]), location=st.text(max_size=20))
def test_no_task_is_too_odd(body: Any, status: int, location: str) -> None:
    """A task that cannot be understood is still a task with a state."""
    answer = _answer(status, body, Location=location)
    uri = started_task(answer, "/redfish/v1/TaskService/Tasks")
    assert uri is None or uri.startswith("/")
    assert isinstance(failure_in(answer.content), str)
    assert all(ids_of(answer.content))
    task = task_of(TaskUri("/t"), answer)
    assert task.percent is None or 0 <= task.percent <= 100
    assert all(isinstance(one, str) for one in (*task.messages, *task.targets, task.state))


@pytest.mark.parametrize(
    ("value", "percent"), [(45, 45), (45.7, 45), ("45%", 45), ("x", None), (None, None), (130, None)]
)
def test_percents(value: Any, percent: int | None) -> None:
    """PercentComplete is an integer by the schema only."""
    answer = _answer(200, {"TaskState": "Running", "PercentComplete": value})
    assert task_of(TaskUri("/t"), answer).percent == percent


@given(wanted=st.sampled_from(sorted(CLOSEST)), allowed=st.sets(st.sampled_from(["On", "ForceOff", "Nmi", "ForceOn"])))
def test_a_reset_is_never_one_that_is_not_allowed(wanted: str, allowed: set[str]) -> None:
    """And a wanted one that is allowed is taken."""
    chosen = closest(wanted, allowed)
    assert chosen is None or chosen in allowed or not allowed
    if wanted in allowed:
        assert chosen == wanted


@pytest.mark.parametrize("wanted", ["ForceOff", "GracefulShutdown", "PowerCycle"])
def test_off_and_power_loss_are_never_replaced_by_something_else(wanted: str) -> None:
    """Firmware that activates by power cycle does not by a restart; off is not a restart."""
    assert closest(wanted, ["On", "ForceRestart", "GracefulRestart", "Nmi", "PushPowerButton"]) is None


@given(text=st.text(max_size=12))
def test_retry_after_is_a_number_or_nothing(text: str) -> None:
    """RFC 9110 also allows a date; the clocks of BMCs are wrong too often."""
    value = retry_after({"Retry-After": text})
    assert value is None or 0 <= value < float("inf")


@given(document=JSON, names=st.lists(_NAMES, max_size=3))
def test_links_of_anything(document: Any, names: list[str]) -> None:
    """A link that is none is None."""
    assert isinstance(link(document, *names), str | None)
    assert all(isinstance(one, str) and one for one in links(document, *names))


def test_paths_fold_case_and_slashes() -> None:
    """iLO 5 links `/redfish/v1/systems/1/bios/` to what it serves as `/redfish/v1/Systems/1/Bios`."""
    snapshot = Snapshot()
    snapshot.add("/redfish/v1/Systems/1/Bios", {"Id": "bios"})
    assert snapshot.document("/redfish/v1/systems/1/bios/") == {"Id": "bios"}
    assert snapshot.get("/redfish/v1/SYSTEMS/1/bios?$expand=.").json() == {"Id": "bios"}


def test_the_host_is_the_system_that_can_be_reset_and_booted() -> None:
    """HGX_Baseboard_0 comes first on some boards and has neither a Reset action nor Boot."""
    reset = {"Actions": {"#ComputerSystem.Reset": {"target": "/r"}}}
    assert host_of({"/HGX_Baseboard_0": {}, "/System_0": {**reset, "Boot": {"x": 1}}}) == "/System_0"
    assert host_of({"/a": {}, "/b": reset}) == "/b"
    assert host_of({"/only": {}}) == "/only"
    assert host_of({}) is None


def test_every_quirk_has_a_public_source_and_changes_something() -> None:
    """Vendor departures are data; the standard is the default."""
    assert traits_of(Facts("Example", "", "Example", "One")) == Traits()
    for quirk in QUIRKS:
        assert quirk.source
        assert quirk.change(Traits()) != Traits()
    assert len({quirk.name for quirk in QUIRKS}) == len(QUIRKS)
