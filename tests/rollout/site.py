"""A small site that does what intents ask, as bad as a test wants it; and a controller that may die at any point."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.observation import Facts, Failure, Observations
from provisioner.rollout.people import approve, draft, start
from provisioner.rollout.plan import plan
from provisioner.rollout.spec import Floor, Soak, Spec
from provisioner.rollout.state import PausedBy, Rollout, RolloutState, UnitState
from provisioner.rollout.step import step
from provisioner.rollout.takeover import outstanding, take_over
from provisioner.rollout.tallies import recounted
from provisioner.rollout.unit import Domain, DomainKind, Unit, UnitName

OLD, NEW, OTHER = (ReleaseDigest(f"sha256:{word}") for word in ("old", "new", "other"))
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SPEC = Spec("r1", "pool", OLD, NEW, Floor(percent=50), soak=Soak(timedelta(minutes=10)))
ENDED = frozenset({RolloutState.COMPLETE, RolloutState.RETURNED, RolloutState.NEEDS_HUMAN, RolloutState.ABORTED})


CHANGES: Mapping[Action, Callable[[Intent, Facts], dict[str, object]]] = {
    Action.RESERVE: lambda intent, facts: {"holder": facts.holder or intent.rollout},
    Action.CORDON: lambda intent, facts: {"cordons": facts.cordons | {intent.rollout}},
    Action.STAGE_FIRMWARE: lambda intent, _: {"staged_firmware": intent.firmware},
    Action.APPLY_FIRMWARE: lambda intent, _: {"firmware": intent.firmware},
    Action.FLIP: lambda intent, _: {"active": intent.release},
    Action.LABEL: lambda intent, _: {"label": intent.release},
    Action.UNCORDON: lambda intent, facts: {
        "cordons": facts.cordons - {intent.rollout},
        "holder": None if facts.holder == intent.rollout else facts.holder,
    },
}
"""What comes of an action on a node that works."""


def units_of(count: int, size: int = 1, *, leafs: int = 100, kind: str = "h100", prefix: str = "u") -> list[Unit]:
    """`count` units of `size` nodes, spread over `leafs` leaf domains."""
    return [
        Unit(
            name=UnitName(f"{prefix}{number:04}"),
            nodes=tuple(NodeName(f"{prefix}{number:04}-n{node}") for node in range(size)),
            hardware_class=kind,
            firmware="fw1",
            release=OLD,
            domains=frozenset({Domain(DomainKind.LEAF, f"leaf{number % leafs}")}),
        )
        for number in range(count)
    ]


def started(units: Iterable[Unit], spec: Spec = SPEC, broken: Iterable[UnitName] = ()) -> Rollout:
    """A rollout that runs."""
    return start(approve(draft(plan(spec, units, broken=frozenset(broken))), "ann"))


@dataclass
class Site:
    """Every node, and what is wrong with some. Stale epochs are refused, as every actor does."""

    nodes: dict[NodeName, Facts]
    defective: set[NodeName] = field(default_factory=set)
    """Fail their check on the new release."""
    hopeless: set[NodeName] = field(default_factory=set)
    """Fail their check on every release."""
    epoch: int = 0
    refused: int = 0
    reboots: Counter[tuple[str, NodeName]] = field(default_factory=Counter)
    """By effect of the intent."""
    log: list[Intent] = field(default_factory=list)
    changed: set[NodeName] = field(default_factory=set)
    removed: set[NodeName] = field(default_factory=set)
    deaf: set[Action] = field(default_factory=set)
    """Actions that nothing comes of."""
    busy: set[NodeName] = field(default_factory=set)
    """Their jobs do not end."""

    @classmethod
    def of(cls, units: Iterable[Unit], *, healthy: bool = True) -> "Site":
        nodes = {node: Facts(OLD, OLD, "b0", "fw1", label=OLD, healthy=healthy) for one in units for node in one.nodes}
        return cls(nodes, changed=set(nodes))

    def change(self, node: NodeName, **changes: object) -> None:
        self.nodes[node] = replace(self.nodes[node], **changes)  # type: ignore[arg-type]  # mypy does not look into the keywords of replace
        self.changed.add(node)

    def remove(self, node: NodeName) -> None:
        del self.nodes[node]
        self.changed.discard(node)
        self.removed.add(node)

    def seen(self) -> Observations:
        """Everything that changed since; every node is heard."""
        changed = {node: self.nodes[node] for node in sorted(self.changed)}
        self.changed = set()
        return Observations(changed, frozenset(self.nodes), frozenset(self.removed))

    def seen_whole(self) -> Observations:
        """As after a restart."""
        self.changed = set(self.nodes)
        return self.seen()

    def do(self, intent: Intent) -> None:
        if intent.epoch < self.epoch:
            self.refused += 1
            return
        self.epoch = intent.epoch
        self.log.append(intent)
        if intent.action in self.deaf:
            return
        for position, node in enumerate(intent.nodes):
            if node in self.nodes:
                self._do(intent, node, position)

    def _do(self, intent: Intent, node: NodeName, position: int) -> None:
        facts = self.nodes[node]
        if intent.action is Action.REBOOT and facts.boot_id == intent.boot_ids[position]:
            assert (facts.holder, facts.jobs) == (intent.rollout, 0), f"{node} is rebooted in service: {intent.effect}"
            assert intent.rollout in facts.cordons, f"{node} is rebooted while jobs may start: {intent.effect}"
            self.reboots[intent.effect, node] += 1
            self.reboot(node)
        elif intent.action in {Action.CHECK, Action.BURN_IN}:
            self._check(intent, node)
        elif intent.action is Action.DRAIN and node not in self.busy:
            self.change(node, jobs=0)
        elif intent.action in CHANGES:
            self.change(node, **CHANGES[intent.action](intent, facts))

    def reboot(self, node: NodeName) -> None:
        facts = self.nodes[node]
        self.change(node, boot_id=f"{facts.boot_id}+", digest=facts.active, healthy=node not in self.hopeless)

    def _check(self, intent: Intent, node: NodeName) -> None:
        facts = self.nodes[node]
        bad = node in self.hopeless or not facts.healthy or (node in self.defective and facts.digest == NEW)
        if bad:
            failure = Failure(intent.action, intent.attempt, intent.generation, "bandwidth too low")
            self.change(node, failure=failure)
        elif intent.action is Action.CHECK:
            self.change(node, checked=facts.boot_id)
        else:
            self.change(node, burned_in=facts.boot_id)

    def drop(self, node: NodeName) -> None:
        """It ends jobs, if any, by itself from now on."""
        self.busy.discard(node)
        self.change(node, jobs=0)


@dataclass
class Controller:
    """Keeps the rollout and carries out its intents. What is kept survives it; what was not carried out does not."""

    site: Site
    kept: Rollout
    now: datetime = NOW

    def step(self, minutes: float = 1, *, deliver: int | None = None) -> tuple[Intent, ...]:
        """One step. `deliver`: it dies after so many intents."""
        self.now += minutes * MINUTE
        self.kept, intents = step(self.kept, self.site.seen(), self.now)
        for intent in intents[:deliver]:
            self.site.do(intent)
        return intents

    def step_and_die_before_keeping(self) -> None:
        step(self.kept, self.site.seen(), self.now)
        self.restart()

    def restart(self) -> None:
        """Another one takes over: it looks at everything anew, and asks again for what is outstanding."""
        self.kept = take_over(self.kept, self.kept.epoch + 1)
        self.site.changed = set(self.site.nodes)
        for intent in outstanding(self.kept):
            self.site.do(intent)

    def run(self, until: Callable[[Rollout], bool] | None = None, steps: int = 2000) -> Rollout:
        """Until it ends, or `until` says so. Fails where that does not happen."""
        until = until or (lambda rollout: rollout.closed_at is not None)
        for _ in range(steps):
            if until(self.kept):
                return self.kept
            self.step()
        raise AssertionError(f"{self.kept.state}, {self.kept.paused_by}: {self.kept.why}")


def running(units: Iterable[Unit], spec: Spec = SPEC, **of: bool) -> Controller:
    """A controller of a site of these units, with a rollout that has just been started."""
    units = list(units)
    return Controller(Site.of(units, **of), started(units, spec))


def check_counts(rollout: Rollout) -> None:
    """They are as counted anew; and a return with nothing in hand says what it waits for (I7)."""
    assert recounted(rollout) == rollout.tallies
    for counted in (*rollout.tallies.trials.values(), *rollout.tallies.control.values()):
        assert 0 <= counted.failed <= counted.nodes
    if rollout.state is RolloutState.RETURNING and rollout.stepped_at is not None and not rollout.tallies.in_hand:
        assert rollout.paused_by in {PausedBy.FLOOR, PausedBy.BLOCKED}
        assert "; the return waits: " in rollout.why


def states(rollout: Rollout) -> set[UnitState]:
    return {rollout.tasks[name].state if name in rollout.tasks else UnitState.ON_OLD for name in rollout.plan.units}


def has(state: UnitState) -> Callable[[Rollout], bool]:
    return lambda rollout: any(task.state is state for task in rollout.tasks.values())


def digests(control: Controller) -> set[str | None]:
    return {facts.digest for facts in control.site.nodes.values()}


def long_jobs(control: Controller) -> None:
    """On every node, and they do not end."""
    control.site.busy = set(control.site.nodes)
    for node in control.site.nodes:
        control.site.change(node, jobs=1)


def jobs_end(control: Controller) -> None:
    for node in list(control.site.nodes):
        control.site.drop(node)
