"""The controller: it keeps the rollout in one piece, and may die at any point. What it decides is the product's own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from random import Random

from provisioner.rollout.intent import Intent
from provisioner.rollout.observation import Observations
from provisioner.rollout.state import Rollout
from provisioner.rollout.step import step
from provisioner.rollout.takeover import outstanding, take_over
from provisioner.rollout.unit import UnitName
from provisioner.simulator.agenda import Agenda
from provisioner.simulator.world import World

START = datetime(2026, 3, 2, tzinfo=UTC)
HEARTBEAT_SECONDS = 300.0
DOWN_SECONDS = (1.0, 600.0)
LATE_SECONDS = (1.0, 1800.0)
"""How much later what a dead controller has asked for may still arrive."""


class Death(StrEnum):
    """Where in its next step a controller dies."""

    BEFORE_KEEPING = "before keeping"
    WHILE_ACTING = "while acting"
    AFTER_ACTING = "after acting"


class Controller:
    """Looks at the world, steps, keeps, acts."""

    def __init__(self, rollout: Rollout, world: World, agenda: Agenda, chance: Random) -> None:
        """`chance`: for deaths alone."""
        self.kept = rollout
        self.skew = timedelta(0)
        """How far its clock is off."""
        self.alive = True
        self.dies: Death | None = None
        self.takeovers = 0
        self.steps = 0
        self._world, self._agenda, self._chance = world, agenda, chance
        self._whole = False
        self._heard_at = -HEARTBEAT_SECONDS

    def look(self) -> None:
        """One step, if it lives."""
        if not self.alive:
            return
        before = self.kept
        after, intents = step(before, self._seen(), self._wall())
        self.steps += 1
        if self.dies is Death.BEFORE_KEEPING:
            self._die(())
            return
        taken = self._world.promises.stepped(before, after)
        for name in taken:
            self._excuse(after, name)
        self.kept = after
        kept = len(intents)
        if self.dies is Death.WHILE_ACTING:
            kept = self._chance.randrange(len(intents) + 1)
        for intent in intents[:kept]:
            self._world.do(intent)
        if self.dies is not None:
            self._die(intents[kept:])

    def change(self, people: Callable[[Rollout], Rollout]) -> None:
        """What people do to the rollout; while nobody answers for it, nothing."""
        if self.alive:
            self.kept = people(self.kept)

    def _wall(self) -> datetime:
        return START + timedelta(seconds=self._agenda.now) + self.skew

    def _seen(self) -> Observations:
        changed = self._world.nodes.report(whole=self._whole)
        self._whole = False
        if self._agenda.now - self._heard_at < HEARTBEAT_SECONDS:
            return Observations(changed)
        self._heard_at = self._agenda.now
        return Observations(changed, self._world.heard(self.kept.tasks))

    def _excuse(self, after: Rollout, name: UnitName) -> None:
        """Nodes that were out when their unit was taken are not out because of us."""
        nodes = self._world.nodes
        for node in self._world.units[name].nodes:
            if nodes.owner not in nodes.facts[node].cordons:
                (nodes.excused.discard if after.facts[node].available else nodes.excused.add)(node)

    def _die(self, left: Sequence[Intent]) -> None:
        """Half of the intent it was at may have been carried out; the rest arrives late, when another is in charge."""
        self.alive, self.dies = False, None
        if left:
            first, cut = left[0], self._chance.randrange(len(left[0].nodes) + 1)
            self._world.do(replace(first, nodes=first.nodes[:cut], boot_ids=first.boot_ids[:cut]))
        down = self._chance.uniform(*DOWN_SECONDS)
        self._agenda.after(down, self._another)
        for intent in left:
            self._agenda.after(down + self._chance.uniform(*LATE_SECONDS), partial(self._world.do, intent))

    def _another(self) -> None:
        """It looks at everything anew, and asks again for what is outstanding."""
        self.alive, self._whole = True, True
        self.takeovers += 1
        self.kept = take_over(self.kept, self.kept.epoch + 1)
        self._world.fence(self.kept.epoch)
        for intent in outstanding(self.kept):
            self._world.do(intent)
        self.look()
