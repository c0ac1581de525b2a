"""The engine keeps its promises, on SQLite and on PostgreSQL."""

import asyncio
from pathlib import Path

import pytest

from provisioner.models.identifiers import NodeName, RackName, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.operation import RunStatus
from tests.engine.site import CLOCK, EngineSite, engine_site, expected
from tests.engine.trials import Trace, Trials

PATH = [State.IDENTIFIED, State.SECURED, State.INVENTORIED, State.UPDATING_FIRMWARE]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str | None:
    """None stands for SQLite files."""
    if request.param == "sqlite":
        return None
    url: str = request.getfixturevalue("postgres_database")
    return url


@pytest.fixture
def trials(tmp_path: Path) -> Trials:
    """Short steps with a trace."""
    return Trials(Trace(tmp_path / "trace"))


async def _node(site: EngineSite, state: State = State.DISCOVERED) -> Node:
    await site.store.nodes.expect(expected(1), CLOCK.now())
    node = await site.store.nodes.get(NodeName("r01-u01"))
    for to in PATH:
        if node.state is state:
            break
        await site.store.nodes.advance(node, to, "for the trial", CLOCK.now())
        node = await site.store.nodes.get(node.name)
    return node


async def test_the_same_key_started_twice_runs_once(tmp_path: Path, url: str | None, trials: Trials) -> None:
    """The id is the idempotency key: every worker may reconcile at once."""
    async with engine_site(tmp_path, url, trials) as site:
        node = await _node(site)
        key = RunKey("identify", node.name, 1, 1)
        await asyncio.gather(*(site.engine.start(key, None) for _ in range(5)))
        await site.until(node.name, State.IDENTIFIED)
        await site.engine.start(key, None)
        await asyncio.sleep(0.2)
        (run,) = await site.engine.find([key.id])
    assert trials.trace.count("begin") == trials.steps
    assert run.status is RunStatus.DONE


async def test_a_rack_has_no_more_disruptive_runs_than_slots(tmp_path: Path, url: str | None) -> None:
    """Six nodes of one rack want to flash, and two may."""
    trials = Trials(Trace(tmp_path / "trace"), seconds=0.1, steps=2)
    async with engine_site(tmp_path, url, trials) as site:
        await site.store.nodes.expect(expected(6), CLOCK.now())
        for one in expected(6):
            await site.engine.start(RunKey("update_firmware", one.name, 1, 1), RackName("r01"))
        for _ in range(400):
            if trials.trace.count("end") == 12:
                break
            await asyncio.sleep(0.05)
    assert trials.trace.count("end") == 12
    assert _peak(trials.trace) == 2


async def test_a_signal_wakes_the_run_that_waits_for_it(tmp_path: Path, url: str | None, trials: Trials) -> None:
    """Sent to the run's id, also before it waits."""
    async with engine_site(tmp_path, url, trials) as site:
        node = await _node(site, State.IDENTIFIED)
        key = RunKey("secure", node.name, 1, 1)
        await site.engine.start(key, None)
        await site.engine.signal(key.id, "go")
        await site.until(node.name, State.SECURED)
    assert trials.trace.lines() == ["woken r01-u01 True"]


async def test_a_step_that_needs_a_person_holds_the_node(tmp_path: Path, url: str | None, trials: Trials) -> None:
    """The instruction arrives whole, through the engine's records."""
    async with engine_site(tmp_path, url, trials) as site:
        node = await _node(site, State.SECURED)
        await site.engine.start(RunKey("inventory", node.name, 1, 1), None)
        held = await site.until(node.name, State.HELD)
    assert held.hold is not None
    assert (held.hold.reason, held.hold.instruction.part) == ("it will not", "button")
    assert held.held_from is State.SECURED
    assert trials.trace.lines() == ["refuse r01-u01"]


async def test_a_bmc_that_does_not_answer_is_asked_again(tmp_path: Path, url: str | None, trials: Trials) -> None:
    """Within the step's budget, and the run knows nothing of it."""
    async with engine_site(tmp_path, url, trials) as site:
        node = await _node(site, State.INVENTORIED)
        await site.engine.start(RunKey("assign", node.name, 1, 1), None)
        await site.until(node.name, State.UPDATING_FIRMWARE)
    assert trials.trace.count("stumble") == 3


async def test_a_cancelled_run_stops_inside_its_step(tmp_path: Path, url: str | None) -> None:
    """Cancelling is asked for in the database and noticed within about a second."""
    trials = Trials(Trace(tmp_path / "trace"), seconds=30.0)
    async with engine_site(tmp_path, url, trials) as site:
        node = await _node(site)
        key = RunKey("identify", node.name, 1, 1)
        await site.engine.start(key, None)
        await trials.trace.appears("begin")
        await site.engine.cancel(key.id)
        await asyncio.sleep(2.5)
        active = await site.engine.active()
        (run,) = await site.engine.find([key.id])
    assert (list(active), run.status) == ([], RunStatus.CANCELLED)
    assert trials.trace.count("end") == 0


async def test_runs_of_a_slot_that_no_longer_exists_are_rescued(
    tmp_path: Path, url: str | None, trials: Trials
) -> None:
    """The open package recovers only what its own slot left; the rest would stay PENDING for ever."""
    slow = Trials(Trace(tmp_path / "old"), seconds=60.0)
    async with engine_site(tmp_path, url, slow, slot="slot-99") as site:
        node = await _node(site)
        await site.engine.start(RunKey("identify", node.name, 1, 1), None)
        await slow.trace.appears("begin")
    async with engine_site(tmp_path, url, trials) as site:
        await asyncio.sleep(1.1)
        before = CLOCK.now()
        rescued = await site.engine.rescue({"slot-0"}, before - before)
        await site.until("r01-u01", State.IDENTIFIED)
    assert list(rescued) == ["identify/r01-u01/g1/a1"]


def _peak(trace: Trace) -> int:
    running = peak = 0
    for line in trace.lines():
        running += 1 if line.startswith("begin") else -1
        peak = max(peak, running)
    return peak
