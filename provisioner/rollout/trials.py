"""Trials of the new release, and what breaks beside it on the old one: its control group."""

from collections.abc import Iterable
from dataclasses import replace

from provisioner.models.identifiers import NodeName
from provisioner.rollout.gate import defects
from provisioner.rollout.state import Trials, UnitState, UnitTask
from provisioner.rollout.unit import Domain, DomainKind
from provisioner.rollout.work import Work

SMALL_WAVE = 20
"""Units. In a smaller wave two that fail are enough to stop."""

_ONE_CAUSE = frozenset({DomainKind.RACK, DomainKind.POWER})


def count_trials(work: Work, task: UnitTask, failed: int) -> None:
    """All nodes of a unit that was tried. What was broken before says nothing (argoproj/argo-rollouts#1774)."""
    if not task.was_broken:
        _add(work, work.plan.units[task.unit].hardware_class, len(work.nodes_of(task.unit)), failed)


def count_failed_unit(work: Work, task: UnitTask) -> None:
    """In a small wave the second one stops the rollout."""
    if task.was_broken:
        return
    wave = work.waves[task.wave]
    wave = work.waves[task.wave] = replace(wave, failed_units=wave.failed_units + 1)
    size = len(work.plan.waves[task.wave])
    if wave.failed_units >= 2 and size < SMALL_WAVE:
        work.stops.append(f"{wave.failed_units} of {size} units of wave {wave.number} failed")


def count_broken(work: Work, nodes: Iterable[NodeName]) -> None:
    """Nodes that were seen to break in service, in one step.

    On the new release it is a failed trial, however late; in a unit that was never taken it is a failure of the
    control group, and leaves that with its unit. It counts once for each turn of its unit: neither does a node
    that is well again undo it, nor one that breaks again add to it. A unit has failed when it has lost more nodes than
    it may run short of.

    Nodes of one rack or power domain that break in the same step are one event of that domain: one failure, and at most
    one failed unit, on each side that it strikes. So a fuse neither condemns the release of the nodes that hang on it,
    nor makes so many failures normal that a defect hides among them. A defect breaks nodes one after the other, and in
    domains that have nothing in common: those are counted one by one.
    """
    fresh = [node for node in nodes if node not in work.broken and _counts(work, node)]
    for event in _events(work, fresh):
        work.broken.update(dict.fromkeys(event, False))
        struck: set[tuple[str, bool]] = set()
        for node in event:
            name = work.plan.unit_of[node]
            side = (work.plan.units[name].hardware_class, name in work.tasks)
            if side not in struck:
                struck.add(side)
                work.broken[node] = True
                _count_event(work, node)


def _counts(work: Work, node: NodeName) -> bool:
    """Of a unit that was never taken, or that runs the new release and was whole when it was taken."""
    if node not in work.facts:
        return False
    task = work.tasks.get(work.plan.unit_of[node])
    return task is None or (task.state is UnitState.ON_NEW and not task.was_broken and node not in task.quarantined)


def _events(work: Work, nodes: Iterable[NodeName]) -> Iterable[list[NodeName]]:
    """Nodes with a rack or power domain in common, if by way of others, are one event; any other node is its own."""
    leaders: dict[Domain, Domain] = {}

    def leader(domain: Domain) -> Domain:
        while leaders.setdefault(domain, domain) != domain:
            domain = leaders[domain]
        return domain

    by_unit: dict[str, list[Domain]] = {}
    placed: list[tuple[NodeName, list[Domain]]] = []
    for node in nodes:
        unit = work.plan.units[work.plan.unit_of[node]]
        if unit.name not in by_unit:
            domains = by_unit[unit.name] = sorted(one for one in unit.domains if one.kind in _ONE_CAUSE)
            for domain in domains:
                leaders[leader(domain)] = leader(domains[0])
        placed.append((node, by_unit[unit.name]))
    events: dict[Domain | NodeName, list[NodeName]] = {}
    for node, domains in placed:
        events.setdefault(leader(domains[0]) if domains else node, []).append(node)
    return events.values()


def _count_event(work: Work, node: NodeName) -> None:
    """One failure, at the node that stands for the event on its side."""
    name = work.plan.unit_of[node]
    task = work.tasks.get(name)
    if task is None:
        work.try_control(name, 0, 1)
        return
    _add(work, work.plan.units[name].hardware_class, 0, 1)
    lost = len(task.quarantined) + sum(one in work.broken for one in work.members_of(task))
    if lost > work.spec.may_run_short and not task.failed:
        work.move(replace(task, failed=True, why=f"{node} broke in service"))
        count_failed_unit(work, task)


def _add(work: Work, hardware_class: str, nodes: int, failed: int) -> None:
    was = work.trials.get(hardware_class, Trials())
    work.trials[hardware_class] = Trials(was.nodes + nodes, was.failed + failed)
    work.stops += defects({hardware_class: work.trials[hardware_class]}, work.control)
