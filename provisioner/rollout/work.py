"""A rollout while one step works at it. Each change keeps the counts right, so that none has to be counted anew."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.observation import Facts, Observations
from provisioner.rollout.route import ACTIONS, Aim
from provisioner.rollout.spec import Spec
from provisioner.rollout.state import (
    AT_REST,
    IN_SERVICE,
    Heading,
    PausedBy,
    Rollout,
    RolloutState,
    Tallies,
    Trials,
    UnitState,
    UnitTask,
    Wave,
    at_work,
)
from provisioner.rollout.unit import UnitName

_MAY_WAIT = frozenset({RolloutState.PAUSED, RolloutState.RETURNING})
_STAYS = frozenset({Action.QUARANTINE, Action.FORGET})


class Work:
    """A copy of a rollout that may be changed, and the intents that come of it."""

    def __init__(self, rollout: Rollout, now: datetime) -> None:
        """Its clock goes on by what has really passed, as far as that can be believed."""
        self.spec: Spec = rollout.plan.spec
        self.plan = rollout.plan
        self.now = now
        self.before = rollout.clock
        self.elapsed = _elapsed(rollout, now)
        self.clock = rollout.clock + self.elapsed
        self.state: RolloutState = rollout.state
        self.paused_by: PausedBy | None = rollout.paused_by
        self.why = rollout.why
        self.generation = rollout.generation
        self.closed_at = rollout.closed_at
        self.return_from_wave = rollout.return_from_wave
        self.waves = list(rollout.waves)
        self.tasks = dict(rollout.tasks)
        self.facts = dict(rollout.facts)
        self.heard = dict(rollout.heard)
        self.gone = rollout.gone
        self.decisions = dict(rollout.decisions)
        self.rejected = rollout.rejected
        self._copy_tallies(rollout.tallies)
        self.broke: list[NodeName] = []
        """What was sound, and is seen not to be."""
        self.stops: list[str] = []
        """What was found that must stop the rollout."""
        self.intents: list[Intent] = []
        self._forgotten: dict[UnitName, int] = {}
        """How many of all intents there were when the unit turned round: those of them that are its own are off."""
        self._rollout = rollout

    def _copy_tallies(self, tallies: Tallies) -> None:
        self.up = dict(tallies.up)
        self.nodes = dict(tallies.nodes)
        self.in_service = dict(tallies.in_service)
        self.busy = dict(tallies.busy)
        self.in_hand = dict(tallies.in_hand)
        self.pending = dict(tallies.pending)
        self.trials = dict(tallies.trials)
        self.control = dict(tallies.control)
        self.broken = dict(tallies.broken)

    def done(self) -> tuple[Rollout, tuple[Intent, ...]]:
        """The rollout after the step, and what is to be done."""
        tallies = Tallies(
            up=self.up,
            nodes=self.nodes,
            in_service=self.in_service,
            busy={domain: count for domain, count in self.busy.items() if count},
            in_hand=self.in_hand,
            pending=self.pending,
            trials=self.trials,
            control=self.control,
            broken=self.broken,
        )
        rollout = replace(
            self._rollout,
            state=self.state,
            paused_by=self.paused_by if self.state in _MAY_WAIT else None,
            why=self.why,
            generation=self.generation,
            clock=self.clock,
            stepped_at=self.now,
            closed_at=self.closed_at,
            return_from_wave=self.return_from_wave,
            waves=tuple(self.waves),
            tasks=self.tasks,
            facts=self.facts,
            heard=self.heard,
            gone=self.gone,
            tallies=tallies,
            decisions=self.decisions,
            rejected=self.rejected,
        )
        return rollout, self._wanted()

    @property
    def superseded(self) -> bool:
        """A newer rollout waits for what is in hand."""
        return bool(self._rollout.superseded_by)

    @property
    def open_wave(self) -> Wave | None:
        """As of `Rollout.open_wave`."""
        return at_work(self.waves)

    def state_of(self, name: UnitName) -> UnitState:
        """A unit without a task was never taken."""
        task = self.tasks.get(name)
        return task.state if task else UnitState.ON_OLD

    def nodes_of(self, name: UnitName) -> tuple[NodeName, ...]:
        """Those that are still there."""
        nodes = self.plan.units[name].nodes
        return tuple(node for node in nodes if node not in self.gone) if self.gone else nodes

    def members_of(self, task: UnitTask) -> tuple[NodeName, ...]:
        """Those that it goes on with."""
        nodes = self.nodes_of(task.unit)
        return tuple(node for node in nodes if node not in task.quarantined) if task.quarantined else nodes

    def aim_of(self, task: UnitTask) -> Aim:
        """What the unit is held against."""
        return Aim(self.spec, task, self.release_of(task))

    def release_of(self, task: UnitTask) -> ReleaseDigest:
        """The one that the unit heads to."""
        new = task.heading is Heading.TO_NEW
        return self.spec.to_release if new else self.plan.units[task.unit].release

    def absorb(self, observations: Observations) -> Collection[UnitName]:
        """Take in what was seen; returns the units of which that is new."""
        self.heard.update(dict.fromkeys(observations.heard, self.clock))
        self.heard.update(dict.fromkeys(observations.changed, self.clock))
        unit_of, known = self.plan.unit_of, self.facts
        touched: dict[UnitName, None] = {}
        for node, facts in observations.changed.items():
            name, old = unit_of.get(node), known.get(node)
            if name is None or node in self.gone or old == facts:
                continue
            known[node] = facts
            touched[name] = None
            if old is None or _service(old) != _service(facts):
                self._count(name, node, old, facts)
        for node in sorted(observations.removed - self.gone):
            if node in unit_of:
                self._remove(unit_of[node], node)
                touched[unit_of[node]] = None
        return touched

    def _count(self, name: UnitName, node: NodeName, old: Facts | None, facts: Facts) -> None:
        if change := facts.available - (old is not None and old.available):
            self._count_up(name, change)
        if old is not None and sound(old) and not sound(facts):
            self.broke.append(node)

    def _count_up(self, name: UnitName, change: int) -> None:
        self.up[name] += change
        if self.state_of(name) in IN_SERVICE:
            self.in_service[self.plan.units[name].hardware_class] += change

    def try_control(self, name: UnitName, nodes: int, failed: int) -> None:
        """Add to the control group of the unit's hardware class, or take away from it."""
        hardware_class = self.plan.units[name].hardware_class
        was = self.control[hardware_class]
        self.control[hardware_class] = Trials(was.nodes + nodes, was.failed + failed)

    def _remove(self, name: UnitName, node: NodeName) -> None:
        """Nothing of ours stays with a node that is gone (kured#822)."""
        old = self.facts.pop(node, None)
        self._count_up(name, -(old is not None and old.available))
        self.heard.pop(node, None)
        self.gone |= {node}
        self.nodes[self.plan.units[name].hardware_class] -= 1
        task = self.tasks.get(name)
        if task is None:
            self.try_control(name, -1, -self.forget_broken((node,)))
        else:
            self.forget_broken((node,))
            gone = sum(one in self.gone for one in self.plan.units[name].nodes)
            self.intents.append(self.intent(replace(task, attempt=gone), Action.FORGET, (node,)))
        if not self.nodes_of(name):
            self.pending.pop(name, None)
            if name in self.plan.lane_of:
                self.move(replace(task or UnitTask(name, 0, UnitState.ON_OLD), state=UnitState.REMOVED))

    def forget_broken(self, nodes: Iterable[NodeName]) -> int:
        """A new turn begins for these, or they are gone. Returns for how many failures they stood."""
        return sum(self.broken.pop(node, False) for node in nodes) if self.broken else 0

    def move(self, task: UnitTask) -> None:
        """Put a task in place of what the unit had."""
        name = task.unit
        old = self.state_of(name)
        if name not in self.tasks:
            nodes = self.nodes_of(name)
            self.try_control(name, -len(nodes), -self.forget_broken(nodes))
        self.tasks[name] = task
        entered = (task.state in IN_SERVICE) - (old in IN_SERVICE)
        self.in_service[self.plan.units[name].hardware_class] += entered * self.up[name]
        taken = (task.state not in AT_REST) - (old not in AT_REST)
        if taken:
            for domain in self.plan.lanes[self.plan.lane_of[name]].domains:
                self.busy[domain] = self.busy.get(domain, 0) + taken
        if taken > 0:
            self.in_hand[name] = None
            self.pending.pop(name, None)
        elif taken < 0:
            del self.in_hand[name]

    def ask(self, task: UnitTask) -> None:
        """Want done what brings the unit to the state that its task names."""
        if task.state in ACTIONS:
            self.intents.append(self.intent(task, ACTIONS[task.state], self.members_of(task)))

    def forget_asked(self, name: UnitName) -> None:
        """Its unit turns round: what this step has asked for it is not done; what keeps nodes out of service stays."""
        self._forgotten[name] = len(self.intents)

    def _wanted(self) -> tuple[Intent, ...]:
        forgotten = self._forgotten
        if not forgotten:
            return tuple(self.intents)
        return tuple(
            one for place, one in enumerate(self.intents) if place >= forgotten.get(one.unit, 0) or one.action in _STAYS
        )

    def intent(self, task: UnitTask, action: Action, nodes: Iterable[NodeName]) -> Intent:
        """The intent of this controller for nodes of the unit."""
        nodes = tuple(nodes)
        return Intent(
            rollout=self.spec.name,
            unit=task.unit,
            action=action,
            attempt=task.attempt,
            generation=task.generation,
            epoch=self._rollout.epoch,
            nodes=nodes,
            release=self.release_of(task),
            firmware=self.spec.to_firmware or "",
            boot_ids=tuple(task.boot_ids.get(node, "") for node in nodes) if action is Action.REBOOT else (),
        )

    def room(self, hardware_class: str) -> int:
        """How many more nodes may leave service; below zero where the floor is broken."""
        total = self.nodes[hardware_class]
        return self.in_service[hardware_class] - (total - self.spec.floor.may_be_out(total))

    def broken_floors(self) -> Iterator[str]:
        """Hardware classes of which less is in service than must be."""
        return (one for one in self.nodes if self.room(one) < 0)


def _elapsed(rollout: Rollout, now: datetime) -> timedelta:
    """A clock that jumps, or a controller that was away, must end no soak and no deadline early."""
    if rollout.stepped_at is None:
        return timedelta(0)
    return min(max(now - rollout.stepped_at, timedelta(0)), rollout.plan.spec.longest_tick)


def _service(facts: Facts) -> tuple[object, ...]:
    """What decides whether it may serve."""
    return facts.healthy, facts.managed, facts.cordons


def sound(facts: Facts) -> bool:
    """It works, whoever has cordoned it."""
    return facts.healthy and facts.managed
