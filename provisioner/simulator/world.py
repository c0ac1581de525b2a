"""The simulated site does what intents ask, in its own time, as every actor does: a stale epoch is refused."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.observation import Facts, Failure
from provisioner.rollout.spec import Spec
from provisioner.rollout.unit import Unit, UnitName
from provisioner.simulator.agenda import Agenda
from provisioner.simulator.boots import Boots
from provisioner.simulator.luck import Luck
from provisioner.simulator.nodes import Nodes
from provisioner.simulator.promises import Promises
from provisioner.simulator.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Drain:
    """One wait for the jobs of a unit. `ended`: they did, before the unit was put back."""

    seconds: float
    ended: bool


class World:
    """Every node, and what is being done to it."""

    def __init__(self, scenario: Scenario, spec: Spec, units: Sequence[Unit], agenda: Agenda) -> None:
        """All serve on the old release."""
        self.promises = Promises(scenario.seed, agenda)
        self.units: Mapping[UnitName, Unit] = {unit.name: unit for unit in units}
        self.luck = {unit.name: Luck(scenario, unit) for unit in units}
        self.nodes = Nodes(spec, units)
        self.boots = Boots(agenda, self.nodes, self.luck, self.promises)
        self.allowed_out = spec.floor.may_be_out(len(self.nodes.facts))
        self.epoch = 0
        self.refused = 0
        """Intents with a stale epoch."""
        self.drains: list[Drain] = []
        self.first_defect: float | None = None
        """When the first node failed that the new release is to blame for."""
        self._agenda = agenda
        self._draining: dict[UnitName, float] = {}
        self._to_drain: dict[UnitName, set[NodeName]] = {}
        """A dying controller may have asked for some of the nodes only; the next one asks for the rest."""
        self._late: set[NodeName] = set()
        self._actions: Mapping[Action, Callable[[Intent], None]] = {
            Action.RESERVE: lambda intent: self.nodes.alter(
                intent.nodes, "reserve", partial(_reserved, intent.rollout)
            ),
            Action.CORDON: self._cordon,
            Action.DRAIN: self._drain,
            Action.FLIP: lambda intent: self.nodes.set(intent.nodes, active=intent.release),
            Action.REBOOT: self.boots.reset,
            Action.CHECK: self._check,
            Action.LABEL: lambda intent: self.nodes.set(intent.nodes, label=intent.release),
            Action.UNCORDON: self._uncordon,
        }

    def fence(self, epoch: int) -> None:
        """From now on nobody with a lower epoch is listened to."""
        self.epoch = max(self.epoch, epoch)

    def do(self, intent: Intent) -> None:
        """Carry it out, or begin to. A node that is to observe, or is in quarantine, is left as it is."""
        if intent.epoch < self.epoch:
            self.refused += 1
            return
        self.epoch = intent.epoch
        action = self._actions.get(intent.action)
        if action is not None:
            action(intent)

    def power(self, units: Iterable[Unit], *, on: bool) -> None:
        """Of whole units."""
        for unit in units:
            self.boots.power(unit.name, unit.nodes, on=on)
            self._holds(unit)

    def heard(self, units: Iterable[UnitName]) -> frozenset[NodeName]:
        """Nodes of these units that report."""
        nodes = frozenset[NodeName]().union(*(self.units[name].nodes for name in units))
        return nodes.difference(self.nodes.silent, self.boots.off, self.boots.booting)

    def _cordon(self, intent: Intent) -> None:
        self.nodes.alter(intent.nodes, "cordon", lambda facts: replace(facts, cordons=facts.cordons | {intent.rollout}))
        self.promises.floor(self.nodes.ours, self.allowed_out)

    def _drain(self, intent: Intent) -> None:
        if intent.unit in self._draining:
            self._to_drain[intent.unit].update(intent.nodes)
            return
        self._to_drain[intent.unit] = set(intent.nodes)
        began = self._draining[intent.unit] = self._agenda.now
        seconds = self.luck[intent.unit].drain_seconds(self._agenda.now)
        self._agenda.after(seconds, partial(self._drained, intent.unit, began))

    def _drained(self, unit: UnitName, began: float) -> None:
        if self._draining.get(unit) != began:
            return
        self._end_drain(unit, ended=True)
        self.nodes.set(sorted(self._to_drain[unit]), jobs=0)

    def _end_drain(self, unit: UnitName, *, ended: bool) -> None:
        began = self._draining.pop(unit, None)
        if began is not None:
            self.drains.append(Drain(self._agenda.now - began, ended))

    def _check(self, intent: Intent) -> None:
        boots = {node: self.nodes.facts[node].boot_id for node in intent.nodes if self.boots.is_up(node)}
        seconds = self.luck[intent.unit].check_seconds()
        self._agenda.after(seconds, partial(self._checked, intent, boots))

    def _checked(self, intent: Intent, boots: Mapping[NodeName, str]) -> None:
        """A node that went down meanwhile has no result."""
        facts = self.nodes.facts
        there = [node for node, boot_id in boots.items() if self.boots.is_up(node) and facts[node].boot_id == boot_id]
        bad = [node for node in there if node in self.boots.broken or self._is_defective(intent.unit, node)]
        good = [node for node in there if node not in bad] if bad else there
        self.nodes.alter(good, "checked", lambda facts: replace(facts, checked=facts.boot_id))
        if bad:
            why = Failure(intent.action, intent.attempt, intent.generation, "bandwidth too low")
            self.nodes.set(bad, failure=why)

    def _is_defective(self, unit: UnitName, node: NodeName) -> bool:
        if self.nodes.facts[node].active != self.nodes.new or node not in self.luck[unit].defective:
            return False
        self._note_defect()
        return True

    def _note_defect(self) -> None:
        if self.first_defect is None:
            self.first_defect = self._agenda.now

    def _uncordon(self, intent: Intent) -> None:
        self._end_drain(intent.unit, ended=False)
        self.nodes.alter(intent.nodes, "given back", partial(_given_back, intent.rollout))
        self._holds(self.units[intent.unit])
        late = self.luck[intent.unit].late
        if late and intent.release == self.nodes.new:
            for node in intent.nodes:
                if node in late and node not in self._late:
                    self._late.add(node)
                    seconds = self.luck[intent.unit].late_seconds()
                    self._agenda.after(seconds, partial(self._fails_in_service, node))

    def _fails_in_service(self, node: NodeName) -> None:
        facts = self.nodes.facts[node]
        self._late.discard(node)
        if facts.available and facts.digest == self.nodes.new:
            self._note_defect()
            self.nodes.set((node,), healthy=False)

    def _holds(self, unit: Unit) -> None:
        facts = self.nodes.facts
        self.promises.one_release(unit.name, (facts[node].digest for node in unit.nodes if facts[node].available))


def _reserved(owner: str, facts: Facts) -> Facts:
    return replace(facts, holder=facts.holder or owner)


def _given_back(owner: str, facts: Facts) -> Facts:
    holder = None if facts.holder == owner else facts.holder
    return replace(facts, cordons=facts.cordons - {owner}, holder=holder, jobs=1)
