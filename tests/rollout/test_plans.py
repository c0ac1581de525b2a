"""Plans: every unit once, canaries of every kind first, the same for the same seed; and every reason to refuse."""

from collections import Counter
from dataclasses import replace
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.errors import BadInput
from provisioner.rollout.defects import nodes_to_see, visible_defect
from provisioner.rollout.plan import plan
from provisioner.rollout.spec import Floor
from provisioner.rollout.unit import DomainKind, Unit
from provisioner.rollout.windows import Window
from tests.rollout.site import NEW, OLD, SPEC, units_of


def pool(h100: int, gb200: int, newer: int) -> list[Unit]:
    units = units_of(h100) + units_of(gb200, 18, kind="gb200", prefix="v")
    return [replace(unit, firmware="fw0") if number < newer else unit for number, unit in enumerate(units)]


@settings(max_examples=60, deadline=None)
@given(h100=st.integers(10, 80), gb200=st.integers(3, 9), newer=st.integers(0, 5), seed=st.integers(0, 9))
def test_every_unit_is_in_one_wave_and_every_kind_in_the_first(h100: int, gb200: int, newer: int, seed: int) -> None:
    units = pool(h100, gb200, newer)
    made = plan(replace(SPEC, seed=seed), units)
    assert Counter(name for wave in made.waves for name in wave) == Counter(unit.name for unit in units)
    kinds = Counter((made.units[name].hardware_class, made.units[name].firmware) for name in made.waves[0])
    assert kinds == Counter({(unit.hardware_class, unit.firmware): 1 for unit in units})
    assert plan(replace(SPEC, seed=seed), reversed(units)) == made


def test_waves_grow_to_1_5_20_and_100_percent_of_all_nodes() -> None:
    made = plan(SPEC, units_of(1000))
    assert [len(wave) for wave in made.waves] == [1, 9, 40, 150, 800]
    irreversible = replace(SPEC, irreversible=True, to_firmware="fw2")
    assert [len(wave) for wave in plan(irreversible, units_of(1000)).waves] == [1, 4, 20, 75, 300, 600]


def test_another_seed_is_another_order() -> None:
    assert plan(SPEC, units_of(50)).waves != plan(replace(SPEC, seed=1), units_of(50)).waves


def test_neighbours_on_a_leaf_are_far_apart_in_the_order() -> None:
    made = plan(SPEC, units_of(40, leafs=8))
    order = [name for wave in made.waves for name in wave]
    leafs = [next(iter(made.units[name].domains)) for name in order]
    assert all(len(set(leafs[at : at + 8])) == 8 for at in range(0, 40, 8))


def test_what_is_broken_goes_first_in_its_wave_but_is_no_canary() -> None:
    """argoproj/argo-rollouts#1774: a broken old release never blocks the one that mends it."""
    units = units_of(200)
    broken = {unit.name for unit in units[:50]}
    made = plan(SPEC, units, broken=broken)
    assert not broken & set(made.waves[0])
    assert [name for wave in made.waves[1:] for name in wave if name in broken] == [
        name for wave in made.waves[1:] for name in wave
    ][:50]


def test_precious_units_go_last() -> None:
    units = [replace(unit, precious=number < 3) for number, unit in enumerate(units_of(30))]
    assert {unit.name for unit in units[:3]} == set(plan(SPEC, units).waves[-1][-3:])


def test_units_that_are_short_or_there_already_are_left_out_with_the_reason() -> None:
    units = units_of(30)
    units[0] = replace(units[0], missing=2)
    units[1] = replace(units[1], release=NEW)
    assert plan(SPEC, units).excluded == {
        units[0].name: "short of 2 nodes already: complete it first",
        units[1].name: "runs the release already",
    }


@pytest.mark.parametrize(
    ("share", "nodes"), [(0.001, 2995), (0.005, 598), (0.01, 299), (0.05, 59), (0.10, 29)], ids=str
)
def test_nodes_that_show_a_defect_with_95_percent(share: float, nodes: int) -> None:
    """The rule of three, exactly: n = ln(0.05) / ln(1 - p)."""
    assert nodes_to_see(share) == nodes
    assert visible_defect(nodes) <= share < visible_defect(nodes - 1)


def test_a_plan_says_what_its_canaries_can_see() -> None:
    """A canary of one rack cannot see a defect of 1 %."""
    made = plan(SPEC, units_of(20, 18))
    assert (made.sights[0].nodes, round(made.sights[0].defect, 3)) == (18, 0.153)
    assert made.sights[-1].nodes == 360


def test_the_floor_rounds_down_and_refuses_rather_than_take_one() -> None:
    """kubernetes-sigs/cluster-api rounds maxUnavailable down; NVIDIA/gpu-operator#644 rounds up."""
    assert Floor(percent=95).may_be_out(39) == 1
    with pytest.raises(BadInput, match=r"/floor/percent: lets 0 of 19 h100 nodes be out of service \(rounded down\)"):
        plan(replace(SPEC, floor=Floor(percent=95)), units_of(19))
    assert plan(replace(SPEC, floor=Floor(percent=95)), units_of(20)).waves


def test_every_reason_is_given_at_once() -> None:
    window = Window(frozenset({5}), time(2), timedelta(hours=1), ZoneInfo("Europe/Berlin"))
    spec = replace(
        SPEC,
        to_release=OLD,
        from_release=OLD,
        floor=Floor(count=3, percent=101),
        windows=(window,),
        irreversible=True,
        tries=0,
        caps={DomainKind.LEAF: 0},
    )
    with pytest.raises(BadInput) as refused:
        plan(spec, [])
    fields = {line.split(": ")[1] for line in str(refused.value).splitlines()}
    assert fields == {"/floor", "/to_release", "/irreversible", "/tries", "/caps/leaf", "/pool"}


@pytest.mark.parametrize(
    ("floor", "text"),
    [
        (Floor(), "name either count or percent"),
        (Floor(percent=101), "it goes from 0 to 100"),
        (Floor(count=-1), "below 0"),
        (Floor(count=31), "lets 0 of 30"),
    ],
    ids=str,
)
def test_a_floor_that_cannot_be_is_refused(floor: Floor, text: str) -> None:
    with pytest.raises(BadInput, match=text):
        plan(replace(SPEC, floor=floor), units_of(30))


def test_windows_shorter_than_the_worst_case_are_refused() -> None:
    window = Window(frozenset(range(7)), time(2), timedelta(hours=2), ZoneInfo("UTC"))
    with pytest.raises(BadInput, match="/windows: the longest is open for 2:00:00, and a unit may take"):
        plan(replace(SPEC, windows=(window,)), units_of(30))


def test_a_pool_without_a_control_group_is_refused_unless_said_so() -> None:
    with pytest.raises(BadInput, match="/control_required: no h100 unit is left"):
        plan(SPEC, units_of(2)[:1] + units_of(9, kind="gb200", prefix="v"))
    alone = replace(SPEC, control_required=False, floor=Floor(percent=0))
    assert plan(alone, units_of(1)).waves == (("u0000",),)


def test_a_rejected_release_is_not_offered_again() -> None:
    """coreos/fedora-coreos-tracker#247."""
    with pytest.raises(BadInput, match="/to_release: it was returned from h100 before"):
        plan(SPEC, units_of(30), rejected={"h100"})


def test_a_node_in_two_units_is_refused() -> None:
    units = units_of(30)
    units[1] = replace(units[1], nodes=units[0].nodes)
    with pytest.raises(BadInput, match="u0000-n0 is in more than one unit"):
        plan(SPEC, units)
