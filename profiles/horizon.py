"""What must move, by when and whereto: branches end, and what comes after them may not take the same GPUs.

Pure. A pool has to leave its branch before that gets no more fixes; where it can go is what `check` lets through.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from itertools import product

from profiles.compat.answers import Reason, Verdict
from profiles.compat.asked import Asked, understand
from profiles.compat.branch import last_day
from profiles.compat.facts import CompatibilityFacts, DriverBranch
from profiles.compat.kinds import MemoryMode, ModuleFlavour, Standing
from profiles.compat.memory_mode import unset_default
from profiles.compat.modules import modules_in_use
from profiles.compat.setup import Component, Setup
from profiles.compatibility import check


class Urgency(StrEnum):
    """How the end of the branch stands to the day that was asked about."""

    OVERDUE = "overdue"
    DATED = "dated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Target:
    """A driver to move to. `until` is its last day of support; `changes` are what else must change with it."""

    driver: str
    until: date
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A branch that would outlive the present one, and what keeps the pool from it."""

    branch: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """One pool. `by` is the last day of support, None where no month is known; `refused_now` is wrong already."""

    pool: str
    driver: str
    urgency: Urgency
    by: date | None
    refused_now: tuple[Reason, ...]
    targets: tuple[Target, ...]
    obstacles: tuple[Obstacle, ...]


def horizon(pools: dict[str, Setup], facts: CompatibilityFacts, on: date) -> tuple[Move, ...]:
    """One move per pool, the most urgent first; raise UnknownWordsError as `check` does."""
    moves = (_move(name, understand(setup, facts, on)) for name, setup in pools.items())
    return tuple(sorted(moves, key=lambda move: (list(Urgency).index(move.urgency), move.by or date.min, move.pool)))


def _move(pool: str, asked: Asked) -> Move:
    now = check(_with_needs(asked, asked.setup), asked.facts, asked.on)
    by = last_day(asked.branch)
    targets: list[Target] = []
    obstacles: list[Obstacle] = []
    for branch, until in _outliving(asked, by):
        found = _target(asked, branch, until)
        if isinstance(found, Target):
            targets.append(found)
        else:
            obstacles.append(found)
    return Move(
        pool,
        asked.setup.driver,
        _urgency(asked, by),
        by,
        now.refusals,
        tuple(sorted(targets, key=_longest)),
        tuple(obstacles),
    )


def _longest(target: Target) -> tuple[int, int]:
    return -target.until.toordinal(), len(target.changes)


def _urgency(asked: Asked, by: date | None) -> Urgency:
    if asked.branch.end_of_life is None:
        return Urgency.UNKNOWN
    return Urgency.OVERDUE if by is None or by < asked.on else Urgency.DATED


def _outliving(asked: Asked, by: date | None) -> Iterator[tuple[DriverBranch, date]]:
    """Branches for pools with a known end after the present one's, and after the day that is asked about."""
    types = asked.facts.branch_types.types
    for branch in asked.facts.driver_branches:
        until = last_day(branch)
        if until is None or until < asked.on or (by is not None and until <= by):
            continue
        if branch is not asked.branch and types[branch.type].pools is Standing.STANDARD:
            yield branch, until


def _target(asked: Asked, branch: DriverBranch, until: date) -> Target | Obstacle:
    """The newest known driver of the branch with as few changes as possible, or what refuses all of them."""
    newest = branch.last_seen or branch.first_seen
    driver = newest.version if newest else f"{branch.branch}.0"
    tried: list[Verdict] = []
    for variant, changes in _variants(asked, driver):
        verdict = check(variant, asked.facts, asked.on)
        if not verdict.refusals:
            after = understand(variant, asked.facts, asked.on)
            return Target(driver, until, (*_new_modules(asked, after), *changes))
        tried.append(verdict)
    fewest = min(tried, key=lambda verdict: len(verdict.refusals))
    return Obstacle(branch.branch, fewest.refusals)


def _variants(asked: Asked, driver: str) -> Iterator[tuple[Setup, tuple[str, ...]]]:
    """The setup on another driver: as it is, then with what a person can change about it, fewest changes first."""
    setup = asked.setup
    modules = [setup.modules, *(one for one in ModuleFlavour if setup.modules and one is not setup.modules)]
    memory = [setup.memory_mode, *([] if setup.memory_mode else [MemoryMode(unset_default(asked))])]
    packages = [setup.forward_package, *([None] if setup.forward_package else [])]
    choices = product(modules, memory, packages)
    for flavour, mode, package in sorted(choices, key=lambda one: _changed(setup, *one)):
        changes = (
            *([f"write {asked.facts.memory_mode.parameter}={mode} down"] if mode is not setup.memory_mode else []),
            *([f"leave cuda-compat {setup.forward_package} out"] if package != setup.forward_package else []),
        )
        other = replace(setup, driver=driver, modules=flavour, memory_mode=mode, forward_package=package)
        yield _with_needs(asked, other), changes


def _changed(setup: Setup, flavour: ModuleFlavour | None, mode: MemoryMode | None, package: str | None) -> int:
    return (flavour is not setup.modules) + (mode is not setup.memory_mode) + (package != setup.forward_package)


def _with_needs(asked: Asked, setup: Setup) -> Setup:
    """The setup with every component that follows the driver at the driver's version: images derive them."""
    lockstep = asked.facts.lockstep
    follow = {*lockstep.exact, *lockstep.recommended, *lockstep.documented}
    needed = {name for name in (asked.platform.needs if asked.platform else ()) if not asked.components(name)}
    moved = setup.driver != asked.setup.driver
    kept = tuple(Component(one.name, setup.driver) if moved and one.name in follow else one for one in setup.components)
    return replace(setup, components=(*kept, *(Component(name, setup.driver) for name in sorted(needed))))


def _new_modules(before: Asked, after: Asked) -> tuple[str, ...]:
    old, new = modules_in_use(before), modules_in_use(after)
    if new is None or new is old:
        return ()
    return (f"{new} kernel modules instead of {old}" if old else f"{new} kernel modules",)
