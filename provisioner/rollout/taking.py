"""Which units are taken in hand now: as many as the floor and the domains let, in the order of the plan."""

from dataclasses import replace

from provisioner.models.identifiers import NodeName
from provisioner.rollout.advance import advance, enter
from provisioner.rollout.state import Heading, PausedBy, RolloutState, UnitState, UnitTask
from provisioner.rollout.unit import UnitName
from provisioner.rollout.windows import fits
from provisioner.rollout.work import Work

AT_ONCE = 100
"""Units that one step takes at most, so that no step is long: the next one goes on."""

LATCHED = frozenset({PausedBy.PERSON, PausedBy.GATE})
"""Pauses that only a person ends."""


def take(work: Work) -> None:
    """Start what may be started. The way back asks for no window: it is to be quicker than the way forth."""
    if work.state is not RolloutState.RETURNING and not _may_start(work):
        return
    lanes, lane_of, up = work.plan.lanes, work.plan.lane_of, work.up
    room = {hardware_class: work.room(hardware_class) for hardware_class in work.nodes}
    blocked: set[int] = set()
    left = AT_ONCE
    for name in tuple(work.pending):
        lane = lane_of[name]
        hardware_class = lanes[lane].hardware_class
        if lane in blocked or (up[name] and up[name] > room[hardware_class]):
            continue
        if not _lane_is_free(work, lane):
            blocked.add(lane)
        elif not waits_for(work, name):
            _take(work, name)
            room[hardware_class] = work.room(hardware_class)
            left -= 1
        if not left or len(blocked) == len(lanes):
            return


def waits_for(work: Work, name: UnitName) -> str | None:
    """What somebody else has to do before the unit can be taken; None where nothing."""
    ours = work.spec.name
    for node in work.nodes_of(name):
        facts = work.facts.get(node)
        if facts is None:
            return f"{node}: nothing is known of it yet: wait, or remove it from the inventory"
        if foreign := sorted(facts.cordons - {ours}):
            return f"{node}: cordoned by {', '.join(foreign)}: let them uncordon it"
        if facts.holder not in {None, ours}:
            return f"{node}: {facts.holder} has it in hand: let that end"
    task = work.tasks.get(name)
    if task is None:
        return None
    if task.not_before > work.clock:
        return f"{task.why}: it is tried again later"
    return None


def _may_start(work: Work) -> bool:
    if work.state is RolloutState.PAUSED:
        if work.paused_by in LATCHED:
            return False
    elif work.state is not RolloutState.RUNNING:
        return False
    return bool(work.pending) and fits(work.spec.windows, work.now, work.spec.worst_case())


def _lane_is_free(work: Work, number: int) -> bool:
    lane = work.plan.lanes[number]
    return all(work.busy.get(domain, 0) < work.spec.caps[domain.kind] for domain in lane.domains)


def _is_ours(work: Work, node: NodeName) -> bool:
    """What a person has put right and given back since is a node of its unit like any other."""
    return node in work.facts and work.facts[node].holder == work.spec.name


def _take(work: Work, name: UnitName) -> None:
    back = work.state is RolloutState.RETURNING
    wave = work.open_wave
    old = work.tasks.get(name)
    number = wave.number if wave else 0
    broken = work.up[name] == 0
    if old is None:
        task = UnitTask(name, number, UnitState.ON_OLD, was_broken=broken)
    else:
        work.forget_broken(work.nodes_of(name))
        task = replace(
            old,
            quarantined=frozenset(node for node in old.quarantined if _is_ours(work, node)),
            wave=old.wave if back else number,
            heading=Heading.TO_OLD if back else Heading.TO_NEW,
            origin=old.state,
            generation=old.generation + 1,
            was_broken=broken,
            why="",
        )
    enter(work, task, UnitState.RESERVED)
    advance(work, name, fresh=True)
