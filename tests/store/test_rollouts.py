"""Rollouts and turns of nodes in the store, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.turn import Right, Turn
from provisioner.rollout import people
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.kept import Kept
from provisioner.rollout.observation import Facts, Observations
from provisioner.rollout.plan import plan
from provisioner.rollout.state import GateKey, PausedBy, Rollout, RolloutState, Verdict, WaveState
from provisioner.rollout.step import step
from provisioner.rollout.unit import Unit, UnitName
from provisioner.store.opening import Store
from tests.rollout.site import NEW, OLD, SPEC, started
from tests.store.nodes import N1, N2, START, add_nodes, minutes

ENTRY = AuditEntry(START, "ann", "rollout.pardon", "x")


def units(count: int = 4) -> list[Unit]:
    return [Unit(UnitName(f"u{number}"), (NodeName(f"u{number}-n0"),), "h100", "fw1", OLD) for number in range(count)]


def a_rollout(name: str = "r1", pool: str = "pool") -> Rollout:
    return started(units(), replace(SPEC, name=name, pool=pool))


def kept(rollout: Rollout, at: float = 0) -> Kept:
    return Kept(rollout, "ann", minutes(at), {"name": rollout.plan.spec.name})


def at_work(rollout: Rollout, epoch: int = 1) -> Rollout:
    """Every node was seen, and the first unit is in hand."""
    facts = Facts(digest=OLD, active=OLD, boot_id="g1", firmware="fw1")
    seen = Observations(changed=dict.fromkeys(rollout.plan.unit_of, facts))
    after, intents = step(replace(rollout, epoch=epoch), seen, START)
    assert intents
    return after


def intent(action: Action = Action.RESERVE, epoch: int = 1, rollout: str = "r1", attempt: int = 1) -> Intent:
    return Intent(rollout, UnitName("u0"), action, attempt, 1, epoch, (N1,), NEW)


async def test_what_is_kept_is_what_is_read_counted_anew(store: Store) -> None:
    before = kept(a_rollout())
    assert await store.rollouts.add(before)
    assert await store.rollouts.get("r1") == before
    epoch = await store.rollouts.claim("r1", "a", START, minutes(1))
    assert epoch == 1
    after = at_work(before.rollout)
    saved = await store.rollouts.keep(before, after, minutes(1), told=["u0: taken", "wave 0 opens"])
    assert saved is not None
    read = await store.rollouts.get("r1")
    assert replace(read.rollout, heard={}) == replace(after, heard={})
    assert (read.revision, await store.rollouts.revision("r1")) == (1, 1)
    assert [one.what for one in await store.rollouts.history("r1")] == ["planned by ann", "u0: taken", "wave 0 opens"]


async def test_decisions_approvals_and_gates_come_back(store: Store) -> None:
    stopped = replace(
        at_work(a_rollout()), state=RolloutState.PAUSED, paused_by=PausedBy.GATE, irreversible_approved_by="bob"
    )
    key = GateKey(1, 0)
    waves = (replace(stopped.waves[0], state=WaveState.JUDGED, verdict=Verdict.INCONCLUSIVE), *stopped.waves[1:])
    decided = people.decide(replace(stopped, waves=waves), key, Verdict.PASS, "ann", "looked at it")
    seen = kept(a_rollout())
    await store.rollouts.add(seen)
    await store.rollouts.claim("r1", "a", START, minutes(1))
    decided = replace(decided, tallies=replace(decided.tallies, broken={NodeName("u1-n0"): True}))
    await store.rollouts.keep(seen, decided, minutes(1), told=[])
    read = (await store.rollouts.get("r1")).rollout
    assert read.decisions == decided.decisions
    assert (read.irreversible_approved_by, read.approved_by) == ("bob", "ann")
    assert read.tallies == decided.tallies


async def test_of_two_controllers_the_one_with_the_older_epoch_keeps_nothing(store: Store) -> None:
    """It was only slow: its lease ended, another one took over, and then it wakes up."""
    seen = kept(a_rollout())
    await store.rollouts.add(seen)
    assert await store.rollouts.claim("r1", "slow", START, minutes(1)) == 1
    assert await store.rollouts.claim("r1", "quick", minutes(0.5), minutes(2)) is None
    assert await store.rollouts.claim("r1", "quick", minutes(1), minutes(2)) == 2
    assert await store.rollouts.claim("r1", "quick", minutes(1.5), minutes(3)) == 2
    stale = at_work(seen.rollout, epoch=1)
    assert await store.rollouts.keep(seen, stale, minutes(2), told=["stale"]) is None
    assert await store.rollouts.keep(seen, at_work(seen.rollout, epoch=2), minutes(2), told=["good"]) is not None
    assert [one.what for one in await store.rollouts.history("r1")] == ["planned by ann", "good"]


async def test_a_person_changes_what_a_controller_has_claimed(store: Store) -> None:
    """Found in the demo: every daemon claims what is planned, and then nobody could approve it."""
    await store.rollouts.add(kept(people.draft(plan(replace(SPEC, name="r1"), units()))))
    await store.rollouts.claim("r1", "a", START, minutes(1))
    seen = await store.rollouts.get("r1")
    assert await store.rollouts.keep(seen, people.approve(seen.rollout, "bob"), minutes(1), told=["approved"])
    assert (await store.rollouts.get("r1")).rollout.approved_by == "bob"


async def test_of_two_that_change_it_at_once_one_wins_whole(store: Store) -> None:
    seen = kept(a_rollout())
    await store.rollouts.add(seen)
    changes = [people.pause(seen.rollout, who) for who in ("ann", "bob")]
    tries = [store.rollouts.keep(seen, one, minutes(1), told=[one.why]) for one in changes]
    won = [one is not None for one in await asyncio.gather(*tries)]
    assert sum(won) == 1
    assert (await store.rollouts.get("r1")).rollout.why == changes[won.index(True)].why
    assert len(await store.rollouts.history("r1")) == 2


async def test_a_pool_has_one_rollout_that_has_not_ended(store: Store) -> None:
    """Also where several are asked for at once; another pool does not matter, nor does one that makes way."""
    tries = [store.rollouts.add(kept(a_rollout(name))) for name in ("a", "b", "c")]
    done = await asyncio.gather(*tries, return_exceptions=True)
    assert done.count(True) == 1
    assert sum(isinstance(one, Conflict) for one in done) == 2
    assert await store.rollouts.add(kept(a_rollout("other", "else")))
    first = ("a", "b", "c")[done.index(True)]
    assert not await store.rollouts.add(kept(a_rollout(first)))
    seen = await store.rollouts.get(first)
    await store.rollouts.keep(seen, people.supersede(seen.rollout, "next", minutes(1)), minutes(1), told=[])
    assert await store.rollouts.add(kept(a_rollout("next")))


async def test_what_came_back_is_rejected_for_its_class_until_it_is_pardoned(store: Store) -> None:
    seen = kept(a_rollout())
    await store.rollouts.add(seen)
    assert await store.rollouts.stops(NEW) == []
    back = replace(seen.rollout, state=RolloutState.RETURNING, why="nodes failed", rejected=frozenset({"h100"}))
    await store.rollouts.keep(seen, back, minutes(1), told=[])
    (rejected,) = await store.rollouts.rejected()
    assert (rejected.release, rejected.hardware_class, rejected.why) == (NEW, "h100", "nodes failed")
    (why,) = await store.rollouts.stops(NEW)
    assert "came back from h100" in why
    assert await store.rollouts.pardon(NEW, "h100", audit=ENTRY)
    assert not await store.rollouts.pardon(NEW, "h100", audit=ENTRY)
    assert await store.rollouts.stops(NEW) == []


async def test_lists_come_page_by_page_newest_first(store: Store) -> None:
    for number in range(5):
        await store.rollouts.add(kept(a_rollout(f"r{number}", f"pool{number}"), at=number // 2))
    first = await store.rollouts.page(None, None, 3)
    second = await store.rollouts.page(None, first[-1].name, 3)
    assert [one.name for one in (*first, *second)] == ["r4", "r3", "r2", "r1", "r0"]
    assert await store.rollouts.page(RolloutState.COMPLETE, None, 3) == []
    with pytest.raises(NotFound, match="no rollout is called x"):
        await store.rollouts.page(None, "x", 3)
    with pytest.raises(NotFound, match="no rollout is called x"):
        await store.rollouts.get("x")


async def test_a_node_has_one_holder_and_a_lower_epoch_moves_nothing(store: Store) -> None:
    await add_nodes(store)
    assert await store.turns.reserve(N1, intent(), State.IN_PRODUCTION, OLD)
    assert await store.turns.reserve(N1, intent(epoch=2), State.READY, OLD), "again, by a later controller"
    assert not await store.turns.reserve(N1, intent(rollout="r2"), State.READY, OLD)
    assert not await store.turns.done(N1, intent(Action.FLIP, epoch=1), active=NEW)
    assert await store.turns.done(N1, intent(Action.FLIP, epoch=2), active=NEW)
    turn = (await store.turns.of([N1, N2]))[N1]
    assert turn == Turn(N1, "r1", 2, intent(Action.FLIP).effect, State.IN_PRODUCTION, active=NEW, blue=OLD, green=NEW)
    assert await store.turns.held() == {N1: "r1"}
    assert not await store.turns.give_back(N1, intent(Action.UNCORDON, epoch=1))
    assert await store.turns.give_back(N1, intent(Action.UNCORDON, epoch=2))
    assert await store.turns.held() == {}
    assert await store.turns.reserve(N1, intent(rollout="r2"), State.READY, NEW), "a new rollout counts its own epochs"


async def test_a_node_is_moved_only_while_the_right_to_it_stands(store: Store) -> None:
    """The right is looked at in the transaction that moves the node."""
    node = await add_nodes(store)
    await store.turns.reserve(N1, intent(epoch=2), node.state, OLD)
    stale, good = Right("r1", 1), Right("r1", 2)
    with pytest.raises(Conflict, match="no longer in hand of r1"):
        await store.nodes.desire(N1, NEW, "stale", minutes(1), seen=node, right=stale)
    assert not await store.nodes.advance(node, State.IDENTIFIED, "stale", minutes(1), right=stale)
    assert await store.nodes.get(N1) == node
    assert await store.nodes.desire(N1, NEW, "good", minutes(1), seen=node, right=good) == node.generation + 1
    with pytest.raises(Conflict):
        await store.nodes.desire(N2, NEW, "not reserved", minutes(1), right=good)


async def test_plans_of_many_units_are_kept_within_the_limits_of_a_statement(store: Store) -> None:
    many = replace(SPEC, name="many", pool="large", soak=replace(SPEC.soak, time=timedelta(0)))
    rollout = people.start(people.approve(people.draft(plan(many, units(2000))), "ann"))
    seen = kept(rollout)
    await store.rollouts.add(seen)
    after = at_work(rollout, epoch=0)
    assert await store.rollouts.keep(seen, after, minutes(1), told=[]) is not None
    assert len((await store.rollouts.get("many")).rollout.facts) == 2000
