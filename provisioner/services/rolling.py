"""How a rollout goes on: look, decide, keep what was decided in one piece, and only then act."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from provisioner.capabilities.jobs import Jobs
from provisioner.capabilities.rollouts import Rollouts, Turns
from provisioner.capabilities.world import World
from provisioner.errors import NotFound
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.turn import Turn
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.inventory import SERVING
from provisioner.rollout.kept import Kept
from provisioner.rollout.observation import Failure
from provisioner.rollout.state import Rollout, RolloutState
from provisioner.rollout.step import step
from provisioner.rollout.takeover import outstanding, take_over
from provisioner.rollout.telling import told
from provisioner.services.rollout_acts import Hands
from provisioner.services.rollout_sight import Eyes

_OVERLAP = timedelta(seconds=30)
"""Heartbeats are asked for a little further back than the last look: clocks of workers differ."""

_AT_WORK = frozenset({RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.RETURNING, RolloutState.ABORTED})


@dataclass(slots=True)
class Memory:
    """What this worker remembers of a rollout between two looks; another one starts without it."""

    eyes: Eyes
    hands: Hands
    kept: Kept | None = None
    failures: Mapping[NodeName, Failure] = field(default_factory=dict)


class Controller:
    """One worker's part in all rollouts. Anybody may be killed at any time, and do the same again."""

    def __init__(self, world: World, rollouts: Rollouts, turns: Turns, schedulers: Mapping[str, Jobs]) -> None:
        """`schedulers`: of each pool."""
        self._world, self._rollouts, self._turns, self._schedulers = world, rollouts, turns, schedulers
        self._memories: dict[str, Memory] = {}

    async def go_on(self, name: str, epoch: int) -> bool:
        """One look at one rollout, whose lease we have; True when there may be more to do at once."""
        kept = await self._load(name)
        rollout = take_over(kept.rollout, epoch)
        if rollout.state not in _AT_WORK or rollout.closed_at is not None:
            return False
        memory, now = self._memory(rollout), self._world.clock.now()
        observations = await memory.eyes.look(rollout, memory.failures, _since(rollout, now))
        after, intents = step(rollout, observations, now)
        saved = await self._rollouts.keep(kept, after, now, told=list(told(kept.rollout, after)))
        if saved is None:
            self._memories.pop(name, None)
            return True
        memory.kept = saved
        memory.failures = await memory.hands.act(_wanted(intents, after))
        if after.closed_at is not None:
            self._memories.pop(name, None)
        return bool(intents)

    async def tidy(self) -> None:
        """Give back what a person has put right after its rollout had ended: out of quarantine, ready again."""
        held = await self._turns.held()
        open_ones = {one.name for one in await self._rollouts.unended()} if held else set()
        left = [node for node, rollout in held.items() if rollout not in open_ones]
        for name, turn in (await self._turns.of(left)).items():
            node = await self._world.nodes.get(name)
            if turn.holder is None or node.hold is not None or node.state not in SERVING:
                continue
            kept = await self._load(turn.holder)
            hands = self._memory(kept.rollout).hands
            for action in (Action.LABEL, Action.UNCORDON):
                await hands.act((_late(kept.rollout, action, turn, node.release),))
            self._memories.pop(turn.holder, None)

    async def _load(self, name: str) -> Kept:
        memory = self._memories.get(name)
        if memory is not None and memory.kept is not None:
            if memory.kept.revision == await self._rollouts.revision(name):
                return memory.kept
            memory.kept = None
        return await self._rollouts.get(name)

    def _memory(self, rollout: Rollout) -> Memory:
        spec = rollout.plan.spec
        if spec.name not in self._memories:
            scheduler = self._schedulers.get(spec.pool)
            if scheduler is None:
                raise NotFound(f"pool {spec.pool} of rollout {spec.name} is not in site.yaml any more: put it back")
            eyes, hands = Eyes(self._world, self._turns, scheduler), Hands(self._world, self._turns, scheduler)
            self._memories[spec.name] = Memory(eyes, hands)
        return self._memories[spec.name]


def _late(rollout: Rollout, action: Action, turn: Turn, release: ReleaseDigest | None) -> Intent:
    return Intent(
        rollout=rollout.plan.spec.name,
        unit=rollout.plan.unit_of[turn.node],
        action=action,
        attempt=0,
        generation=0,
        epoch=turn.epoch,
        nodes=(turn.node,),
        release=release or rollout.plan.spec.from_release,
    )


def _since(rollout: Rollout, now: datetime) -> datetime:
    return (rollout.stepped_at or now) - _OVERLAP


def _wanted(intents: Sequence[Intent], after: Rollout) -> tuple[Intent, ...]:
    """What was asked for now, and before; done twice is as done once, and what was done is not done again."""
    return tuple({one.key: one for one in (*outstanding(after), *intents)}.values())
