"""The order of firmware updates, against every order that there is."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.component import Activation
from provisioner.firmware.stages import STRENGTH, Step, in_stages, strongest

BMC = Activation.BMC_RESET
BY_HOST = [one for one in Activation if one not in {Activation.NONE, BMC}]


@st.composite
def orders(draw: st.DrawFn, activations: Sequence[Activation] = tuple(Activation), most: int = 4) -> list[Step]:
    """Steps that wait for others, in any direction but never in a circle."""
    count = draw(st.integers(0, most))
    rank = draw(st.permutations(range(count)))
    return [
        Step(
            draw(st.sampled_from(activations)),
            frozenset(one for one in range(count) if rank[one] < rank[place] and draw(st.booleans())),
        )
        for place in range(count)
    ]


def every_order(steps: Sequence[Step]) -> Iterator[list[list[int]]]:
    """All stages that hold what was asked for: what comes after is in a later one, BMC resets are by themselves."""
    for choice in product(range(len(steps)), repeat=len(steps)):
        if any(choice[place] <= choice[before] for place, step in enumerate(steps) for before in step.after):
            continue
        stages = [[place for place, stage in enumerate(choice) if stage == number] for number in sorted(set(choice))]
        if all(len({steps[place].activation is BMC for place in stage}) == 1 for stage in stages):
            yield stages


def activations(steps: Sequence[Step], stages: Sequence[Sequence[int]]) -> list[Activation]:
    """What each stage ends with, where it is something."""
    ends = [strongest([steps[place].activation for place in stage]) for stage in stages]
    return [one for one in ends if one is not Activation.NONE]


@given(orders())
def test_the_stages_are_one_of_the_orders_and_none_has_fewer_activations(steps: list[Step]) -> None:
    found = in_stages(steps)
    orders = list(every_order(steps))
    assert found in orders
    assert len(activations(steps, found)) == min(len(activations(steps, one)) for one in orders)


@given(orders(tuple(BY_HOST)))
def test_nothing_cuts_more_power_than_it_has_to(steps: list[Step]) -> None:
    """One power cut for all that need one, where the order allows it: a mains cycle of a rack's box is an event."""
    found = in_stages(steps)
    alike = [one for one in every_order(steps) if len(one) == len(found)]
    top = max((step.activation for step in steps), key=STRENGTH.__getitem__, default=Activation.NONE)
    assert activations(steps, found).count(top) == min(activations(steps, one).count(top) for one in alike)


@given(orders(most=12))
def test_the_order_inside_a_stage_is_that_of_the_bundle(steps: list[Step]) -> None:
    found = in_stages(steps)
    assert all(stage == sorted(stage) and stage for stage in found)
    assert found == in_stages(steps)


def test_what_is_listed_first_goes_first() -> None:
    """As few activations either way."""
    host, bmc = Step(Activation.HOST_RESET), Step(BMC)
    assert in_stages([bmc, host]) == [[0], [1]]
    assert in_stages([host, bmc]) == [[0], [1]]


def test_a_weak_activation_waits_for_no_strong_one() -> None:
    """The BIOS that the GPUs wait for: the mains are cut once, at the end."""
    steps = [Step(Activation.AC_CYCLE), Step(Activation.HOST_RESET), Step(Activation.AC_CYCLE, frozenset({1}))]
    assert in_stages(steps) == [[1], [0, 2]]


def test_steps_that_wait_for_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="wait for each other"):
        in_stages([Step(BMC, frozenset({1})), Step(BMC, frozenset({0}))])
