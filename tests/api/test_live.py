"""The live view: pure, so that it can be looked at."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from provisioner.clock import PacedClock
from provisioner.commands.console import plain, short
from provisioner.commands.live import render
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, Node
from provisioner.models.operation import Progress
from provisioner.services.glance import glance

NOW = datetime.now(UTC)
CLOCK = PacedClock(speed=60)


def node(state: State, position: int = 1, spent: timedelta = timedelta(), held_from: State | None = None) -> Node:
    instruction = Instruction(
        Owner.TECHNICIAN, "rack r01", f"enter the password of u{position:02}, as it says on its label", "-"
    )
    return Node(
        name=NodeName(f"r01-u{position:02}"),
        rack=RackName("r01"),
        position=position,
        bmc=BmcAddress("127.0.0.1"),
        state=state,
        state_since=datetime.now(UTC) - spent,
        hold=Hold("no password", instruction, NOW) if held_from else None,
        held_from=held_from,
    )


def picture(columns: int) -> list[str]:
    nodes = [node(state, number) for number, state in enumerate(State, start=1) if state is not State.HELD]
    nodes.append(node(State.HELD, 15, held_from=State.IDENTIFIED))
    flashing = Progress(nodes[4].name, "update_firmware", "flashing BMC [2 of 5] [bold]", 43.0, NOW)
    console = Console(file=StringIO(), width=columns, force_terminal=False)
    console.print(render(nodes, [flashing], "http://127.0.0.1:8410", 42.0, CLOCK))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [line.rstrip() for line in str(text).splitlines()]


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_one_line_per_node_at_every_width(columns: int) -> None:
    lines = picture(columns)
    assert len(lines) == 14 + 3
    assert all(len(line) <= columns for line in lines)
    assert [line.split()[0] for line in lines[:3]] == ["r01/1", "r01/2", "r01/3"]
    assert lines[-2] == "1 ready, 1 held, 12 on the way, 0.7 min"
    assert lines[-1] == "API http://127.0.0.1:8410"


def test_a_line_says_what_goes_on_and_what_a_person_does() -> None:
    lines = picture(120)
    assert "● updating firmware" in lines[4]
    assert "flashing BMC [2 of 5] [bold] (43 %)" in lines[4]
    assert lines[4].endswith("2 min")
    assert "● held" in lines[13]
    assert "enter the password of u15" in lines[13]


@given(st.sampled_from(list(State)), st.floats(0, 10**6), st.none() | st.floats(0, 100))
def test_the_way_is_between_its_ends(state: State, spent: float, percent: float | None) -> None:
    one = node(state, spent=timedelta(seconds=spent))
    doing = Progress(one.name, "boot", "booting", percent, NOW)
    seen = glance(one, doing, CLOCK)
    assert 0 <= seen.way <= 1
    assert seen.left is None or seen.left >= timedelta()


def test_the_way_grows_from_state_to_state() -> None:
    order = list(State)[: list(State).index(State.READY) + 1]
    ways = [glance(node(state), None, CLOCK).way for state in order]
    assert ways == sorted(ways)
    assert ways[-1] == 1
    assert glance(node(State.HELD, held_from=State.BOOTING), None, CLOCK).way == pytest.approx(ways[6], abs=0.01)


def test_time_that_has_passed_is_not_left() -> None:
    fresh, late = (glance(node(State.BOOTING, spent=timedelta(seconds=one)), None, CLOCK) for one in (0, 1000))
    assert fresh.left is not None
    assert late.left is not None
    assert late.left.total_seconds() == pytest.approx(30, abs=1)  # the burn-in of 30 minutes at speed 60
    assert fresh.left > late.left


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (89, "89 s"), (90, "2 min"), (240, "4 min"), (5399, "90 min"), (5400, "2 h"), (172800, "2 d")],
)
def test_times_are_short(seconds: float, text: str) -> None:
    assert short(seconds) == text


def test_nothing_that_others_wrote_steers_the_terminal() -> None:
    assert plain("a\x1b[2J\x07b\x9bc [red]d[/]\ne").plain == "a\ufffd[2J\ufffdb\ufffdc [red]d[/]\ne"
