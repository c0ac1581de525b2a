"""What it means that a BMC answers, or that none does."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from provisioner.discovery.found import Judgement, Planned, judge
from provisioner.models.found_bmc import FoundBmc, How, Scan
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.node import BmcAddress
from tests.pure.samples import NOW

MINUTE = timedelta(minutes=1)
SCAN = Scan(NOW, NOW + MINUTE, NOW + 15 * MINUTE, ("10.0.0.0/28", "fd00::/120"), 443)
NIL = "00000000-0000-0000-0000-000000000000"


def planned(name: str, host: str, port: int = 443, uuid: str | None = None) -> Planned:
    """A node of the plan."""
    return Planned(NodeName(name), RackName("r1"), 1, BmcAddress(host, port), uuid)


def bmc(host: str, uuid: str = "", *, port: int = 443, seen: bool = True) -> FoundBmc:
    """One that answered in this scan, or only in an earlier one."""
    at = SCAN.finished_at if seen else NOW - 60 * MINUTE
    return FoundBmc(BmcAddress(host, port), uuid, "Example", "One", NOW - 90 * MINUTE, at, How.SCAN)


def told(judgement: Judgement) -> tuple[list[str], list[str], list[str]]:
    """Nodes that answer, addresses that nobody expects, nodes that are missing."""
    return (
        [one.node.name for one in judgement.expected],
        [one.bmc.address.host for one in judgement.unexpected],
        [one.node.name for one in judgement.missing],
    )


def test_the_address_decides() -> None:
    """The serial is compared later, by the one who may log in."""
    plan = [planned("a", "10.0.0.1"), planned("b", "10.0.0.2", 8443), planned("c", "10.0.0.3")]
    found = [bmc("10.0.0.1"), bmc("10.0.0.2"), bmc("10.0.0.9")]
    assert told(judge(SCAN, found, plan)) == (["a", "b"], ["10.0.0.9"], ["c"])


def test_several_nodes_behind_one_address_are_told_apart_by_port() -> None:
    plan = [planned("a", "10.0.0.1", 8001), planned("b", "10.0.0.1", 8002)]
    assert told(judge(SCAN, [bmc("10.0.0.1", port=8002)], plan))[0] == ["b"]


def test_nobody_is_missing_where_nobody_has_asked() -> None:
    """Outside the ranges, on another port, or by a name."""
    plan = [planned("a", "10.0.0.16"), planned("b", "10.0.0.1", 8443), planned("c", "fd00::1"), planned("d", "fd01::1")]
    assert told(judge(SCAN, [], plan)) == ([], [], ["c"])


def test_who_answers_no_more_is_neither_unexpected_nor_there() -> None:
    """An unexpected server that was unplugged needs nobody any more; a node's BMC that fell silent does."""
    plan = [planned("a", "10.0.0.1")]
    judgement = judge(SCAN, [bmc("10.0.0.1", seen=False), bmc("10.0.0.9", seen=False)], plan)
    assert told(judgement) == ([], [], ["a"])
    assert judgement.missing[0].last_seen == NOW - 60 * MINUTE


def test_a_known_uuid_elsewhere_is_said_and_never_merged() -> None:
    """By what the node has said, or by what the service root at its address said before."""
    plan = [planned("a", "10.0.0.1", uuid="AA "), planned("b", "10.0.0.2")]
    found = [bmc("10.0.0.2", "bb", seen=False), bmc("10.0.0.8", "aa"), bmc("10.0.0.9", "bb")]
    judgement = judge(SCAN, found, plan)
    assert told(judgement) == ([], ["10.0.0.8", "10.0.0.9"], ["a", "b"])
    assert [[node.name for node in one.same_uuid] for one in judgement.unexpected] == [["a"], ["b"]]
    assert [[one.address.host for one in gone.elsewhere] for gone in judgement.missing] == [["10.0.0.8"], ["10.0.0.9"]]


def test_boards_without_a_uuid_have_nothing_in_common() -> None:
    plan = [planned("a", "10.0.0.1", uuid=NIL), planned("b", "10.0.0.2", uuid="")]
    found = [bmc("10.0.0.1", NIL), bmc("10.0.0.2"), bmc("10.0.0.8", NIL), bmc("10.0.0.9")]
    assert [one.same_uuid for one in judge(SCAN, found, plan).unexpected] == [(), ()]


_HOSTS = st.integers(0, 40).map(lambda number: f"10.0.0.{number}")
_UUIDS = st.sampled_from(["", NIL, "aa", "bb"])
_FOUND = st.builds(bmc, _HOSTS, _UUIDS, port=st.sampled_from([443, 8443]), seen=st.booleans())
_PLAN = st.lists(
    st.builds(planned, st.just("n"), _HOSTS, st.sampled_from([443, 8443]), st.none() | _UUIDS),
    unique_by=lambda node: node.bmc,
    max_size=12,
).map(lambda nodes: [replace(node, name=NodeName(f"n{number}")) for number, node in enumerate(nodes)])


@given(found=st.lists(_FOUND, unique_by=lambda one: one.address, max_size=12), plan=_PLAN)
def test_everything_is_judged_once(found: list[FoundBmc], plan: list[Planned]) -> None:
    """Who answers is expected or not; no node both answers and is missing; an unexpected one is at no node's host."""
    judgement = judge(SCAN, found, plan)
    judged = [one.bmc for one in judgement.expected] + [one.bmc for one in judgement.unexpected]
    assert sorted(map(str, judged)) == sorted(str(one) for one in found if one.last_seen >= SCAN.began_at)
    hosts = {node.bmc.host for node in plan}
    assert not [one for one in judgement.unexpected if one.bmc.address.host in hosts]
    answer = {one.node.name for one in judgement.expected}
    assert not [one for one in judgement.missing if one.node.name in answer]
