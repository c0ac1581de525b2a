"""What stops a rollout at once, whatever the statistics say. Missing is not good."""

from collections.abc import Iterable, Iterator

from provisioner.models.identifiers import NodeName
from provisioner.rollout.advance import fail
from provisioner.rollout.observation import Facts
from provisioner.rollout.route import AFTER_BOOT
from provisioner.rollout.state import AT_REST, Heading, UnitState, UnitTask, WaveState
from provisioner.rollout.trials import count_broken
from provisioner.rollout.unit import UnitName
from provisioner.rollout.work import Work

FATAL_NODES = 2
LOOKS = 4
"""How often in the time that silence may last it is looked for."""

_WATCHED = frozenset({*AFTER_BOOT, UnitState.ON_NEW})
_JUDGED = frozenset({*_WATCHED, UnitState.REBOOTING})


def look(work: Work, touched: Iterable[UnitName], budgets_spent: Iterable[str]) -> None:
    """Note everything that must stop the rollout. A unit in hand that shows it has failed, without another try."""
    count_broken(work, work.broke)
    work.stops += [f"the error budget of {service} is spent" for service in sorted(budgets_spent)]
    fatal = False
    for name in touched:
        task = work.tasks.get(name)
        if task is None or task.heading is not Heading.TO_NEW:
            continue
        seen = [(node, facts) for node in work.members_of(task) if (facts := work.facts.get(node)) is not None]
        fatal = fatal or any(facts.fatal for _, facts in seen)
        if task.state not in _JUDGED:
            continue
        wrong = {node: why for node, facts in seen if (why := _wrong(work, task, node, facts))}
        if wrong:
            work.stops += [f"{node}: {why}" for node, why in wrong.items()]
            if task.state not in AT_REST:
                fail(work, task, tuple(wrong), next(iter(wrong.values())))
    if fatal:
        work.stops += _fatal_classes(work)
    quarter = work.spec.silence / LOOKS
    if work.clock // quarter != work.before // quarter:
        work.stops += _silent(work)


def _wrong(work: Work, task: UnitTask, node: NodeName, facts: Facts) -> str | None:
    booted = task.state in AFTER_BOOT or _came_back(task, node, facts)
    if (booted or task.state is UnitState.ON_NEW) and facts.digest not in {None, work.spec.to_release}:
        return f"runs {facts.digest} and not {work.spec.to_release}"
    if (booted or task.state is UnitState.REBOOTING) and facts.image_refused:
        return f"refused the image: {facts.image_refused}"
    if task.state in AFTER_BOOT and facts.boot_id != task.booted.get(node, facts.boot_id):
        return "rebooted again by itself"
    if task.state in _WATCHED and not task.was_broken and not facts.managed and _of_open_wave(work, task):
        return "its BMC is lost"
    return None


def _came_back(task: UnitTask, node: NodeName, facts: Facts) -> bool:
    return task.state is UnitState.REBOOTING and facts.boot_id != task.boot_ids.get(node)


def _of_open_wave(work: Work, task: UnitTask) -> bool:
    return work.waves[task.wave].state is not WaveState.CLOSED


def _fatal_classes(work: Work) -> Iterator[str]:
    """A class of error that two nodes show on the new release, and none on the old one."""
    old: set[str] = set()
    new: dict[str, list[NodeName]] = {}
    for node, facts in work.facts.items():
        if not facts.fatal:
            continue
        task = work.tasks.get(work.plan.unit_of[node])
        if task is None:
            old.add(facts.fatal)
        elif task.state in _WATCHED and task.heading is Heading.TO_NEW and not task.was_broken:
            new.setdefault(facts.fatal, []).append(node)
    for kind, nodes in sorted(new.items()):
        if kind not in old and len(nodes) >= FATAL_NODES:
            yield f"{', '.join(sorted(nodes))}: {kind}, which no node on the old release shows"


def _silent(work: Work) -> Iterator[str]:
    """When the others were heard is not kept for long: who is taken in hand is heard of anew."""
    oldest, heard = work.clock - work.spec.silence, work.heard
    if min(heard.values(), default=oldest) >= oldest:
        return
    for node in sorted([node for node, at in heard.items() if at < oldest]):
        task = work.tasks.get(work.plan.unit_of[node]) if node in work.plan.unit_of else None
        if task is None:
            del heard[node]
        elif _is_watched(work, task) and node not in task.quarantined and not task.was_broken:
            yield f"{node}: nothing was heard of it for {work.spec.silence}"


def _is_watched(work: Work, task: UnitTask) -> bool:
    return task.state in _WATCHED and task.heading is Heading.TO_NEW and _of_open_wave(work, task)
