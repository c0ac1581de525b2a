"""Drift: nodes beside their bundles, and jobs' domains beside themselves."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.bundle import FirmwareBundle
from provisioner.drift import Sighting, drift, versions_of
from provisioner.models.drift import DriftFinding, FindingKind
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.services.drift import Rate, due
from tests.campaigns.samples import NOW, held, name_of, ready_nodes
from tests.pure.samples import bundle, part

BUNDLE = bundle(bmc=("BMC", "1.2", "bmc_reset"), gpu=("GPU_*", "96.00.BC", "power_cycle"))
A, B, C, D = (name_of(1, position) for position in (1, 2, 3, 4))


def sighting(node: Node, *parts: FirmwareComponent, spans: bool = False, wanted: FirmwareBundle = BUNDLE) -> Sighting:
    return Sighting(node, wanted, spans, versions_of(wanted, parts))


def like(bmc: str = "1.2", *gpus: str | None) -> list[FirmwareComponent]:
    return [part("BMC", bmc), *(part(f"GPU_{at}", version) for at, version in enumerate(gpus or ("96.00.BC",)))]


def kinds(found: Sequence[DriftFinding]) -> list[tuple[FindingKind, str, str]]:
    return [(one.kind, one.where, one.component) for one in found]


def test_a_node_on_its_bundle_has_no_finding_however_it_is_written() -> None:
    (node,) = ready_nodes(1, 1).values()
    assert drift([sighting(node, *like("1.2 ", "96.00.bc", "96.00.BC\0"))]) == ()


def test_a_node_off_its_bundle_is_told_with_what_it_runs() -> None:
    (node,) = ready_nodes(1, 1).values()
    (found,) = drift([sighting(node, *like("1.1"))])
    assert (found.kind, found.where, found.component, found.wanted) == (FindingKind.OFF_BUNDLE, A, "bmc", "1.2")
    assert found.versions == {"1.1": (A,)}
    assert found.told == f"{A} is off its bundle: bmc runs 1.1, and should run 1.2"


def test_seven_of_eight_is_mixed_and_off() -> None:
    (node,) = ready_nodes(1, 1).values()
    found = drift([sighting(node, *like("1.2", *["96.00.BC"] * 7, "96.00.61"))])
    assert kinds(found) == [(FindingKind.MIXED, A, "gpu"), (FindingKind.OFF_BUNDLE, A, "gpu")]
    assert found[0].told == f"{A} is mixed: parts of gpu run 96.00.BC, 96.00.61"
    assert list(found[1].versions) == ["96.00.61"]


@pytest.mark.parametrize(("gpus", "said"), [((None,), "no version"), ((), "no part"), (("Not Present",), "no version")])
def test_a_silent_or_absent_part_is_off_and_said_to_be_so(gpus: tuple[str | None, ...], said: str) -> None:
    (node,) = ready_nodes(1, 1).values()
    parts = [part("BMC", "1.2"), *(part(f"GPU_{at}", version) for at, version in enumerate(gpus))]
    (found,) = drift([sighting(node, *parts)])
    assert (found.component, list(found.versions)) == ("gpu", [said])


def test_a_pool_whose_nodes_differ_names_the_odd_ones() -> None:
    nodes = list(ready_nodes(2, 2).values())
    seen = [sighting(node, *like("1.1" if node.name == A else "1.2")) for node in nodes]
    found = [one for one in drift(seen) if one.kind is FindingKind.POOL_DIFFERS]
    assert kinds(found) == [(FindingKind.POOL_DIFFERS, "pool hgx-h100-8gpu", "bmc")]
    assert (found[0].odd, found[0].wanted) == ((A,), "1.2")
    assert found[0].told == "pool hgx-h100-8gpu differs within itself: bmc is 1.2 (3 x), 1.1 (1 x)"


def test_nvlink_domains_are_apart() -> None:
    """Racks of NVL72 may differ from one another: no job spans them."""
    nodes = list(ready_nodes(2, 2).values())
    apart = [sighting(node, *like("1.1" if node.rack == "r01" else "1.2"), spans=True) for node in nodes]
    assert FindingKind.POOL_DIFFERS not in {one.kind for one in drift(apart)}
    within = [sighting(node, *like("1.1" if node.name == A else "1.2"), spans=True) for node in nodes]
    (found,) = [one for one in drift(within) if one.kind is FindingKind.POOL_DIFFERS]
    assert (found.where, found.odd) == ("nvlink domain r01 of hgx-h100-8gpu", (A,))


def test_nodes_of_two_bundles_in_one_pool_differ_while_each_is_on_its_own() -> None:
    nodes = list(ready_nodes(1, 2).values())
    other = bundle(bmc=("BMC", "1.3", "bmc_reset"), gpu=("GPU_*", "96.00.BC", "power_cycle"))
    found = drift([sighting(nodes[0], *like("1.2")), sighting(nodes[1], *like("1.3"), wanted=other)])
    assert kinds(found) == [(FindingKind.POOL_DIFFERS, "pool hgx-h100-8gpu", "bmc")]
    assert found[0].wanted is None


@pytest.mark.parametrize("state", [State.UPDATING_FIRMWARE, State.BOOTING, State.INVENTORIED, State.DECOMMISSIONED])
def test_who_is_being_changed_is_in_no_finding(state: State) -> None:
    nodes = list(ready_nodes(1, 2).values())
    moving = replace(nodes[0], state=state)
    assert drift([sighting(moving, *like("1.1")), sighting(nodes[1], *like())]) == ()
    assert drift([sighting(held(moving), *like("1.1")), sighting(nodes[1], *like())]) == ()


def test_a_held_node_that_was_in_production_counts() -> None:
    (node,) = ready_nodes(1, 1).values()
    assert len(drift([sighting(held(replace(node, state=State.IN_PRODUCTION)), *like("1.1"))])) == 1


reported = st.sampled_from(["1.1", "1.2", "1.2 ", "Not Present"])


@given(st.lists(st.tuples(reported, st.booleans()), min_size=1, max_size=6), st.randoms())
def test_the_order_of_nodes_changes_no_finding(pool: list[tuple[str, bool]], chance: object) -> None:
    nodes = list(ready_nodes(1, 6).values())
    seen = [sighting(node, *like(bmc), spans=spans) for node, (bmc, spans) in zip(nodes, pool, strict=False)]
    mixed = list(seen)
    chance.shuffle(mixed)  # type: ignore[attr-defined]  # it is a random.Random
    assert drift(mixed) == drift(seen)
    assert len({one.key for one in drift(seen)}) == len(drift(seen))


MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def test_every_node_is_read_once_a_day_and_evenly() -> None:
    """2,000 nodes: never more than two in a minute, and each gets its turn within a day."""
    nodes = list(ready_nodes(50, 40).values())
    tried: dict[NodeName, tuple[int, datetime]] = {}
    most = 0
    for minute in range(1440):
        now = NOW + minute * MINUTE
        turn = due(nodes, [(name, *at) for name, at in tried.items()], now, Rate(DAY, MINUTE))
        most = max(most, len(turn))
        tried |= {node.name: (node.generation, now) for node in turn}
    assert (most, len(tried)) == (2, 2000)
    assert due(nodes, [(name, *at) for name, at in tried.items()], NOW + DAY - MINUTE, Rate(DAY, MINUTE)) == []


def test_a_new_generation_is_read_first_and_a_held_node_never() -> None:
    nodes = list(ready_nodes(1, 3).values())
    tried = [(A, 1, NOW - 2 * DAY), (B, 1, NOW - DAY), (C, 1, NOW)]
    often = Rate(DAY, DAY)
    assert [one.name for one in due(nodes, tried, NOW, often)] == [A, B]
    newer = [nodes[0], nodes[1], replace(nodes[2], generation=2)]
    assert [one.name for one in due(newer, tried, NOW, often)] == [C, A, B]
    assert [one.name for one in due([held(nodes[0]), *nodes[1:]], tried, NOW, often)] == [B]
