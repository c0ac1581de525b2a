"""Rollouts as JSON, and back. What can be counted from the rest is not kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from provisioner.models.identifiers import NodeName
from provisioner.rollout.observation import Facts
from provisioner.rollout.plan import Plan
from provisioner.rollout.state import (
    Decision,
    PausedBy,
    Rollout,
    RolloutState,
    Tallies,
    Trials,
    UnitTask,
    Wave,
)
from provisioner.rollout.tallies import recounted
from provisioner.rollout.unit import UnitName


@dataclass(frozen=True, slots=True)
class Head:
    """A rollout without its plan, its units' tasks and its nodes' facts."""

    state: RolloutState
    paused_by: PausedBy | None
    why: str
    epoch: int
    generation: int
    clock: timedelta
    stepped_at: datetime | None
    closed_at: datetime | None
    return_from_wave: int
    approved_by: str
    irreversible_approved_by: str
    waves: tuple[Wave, ...]
    gone: frozenset[NodeName]
    rejected: frozenset[str]
    superseded_by: str
    decisions: tuple[Decision, ...] = ()
    pending: tuple[UnitName, ...] = ()
    trials: Mapping[str, Trials] = field(default_factory=dict)
    control: Mapping[str, Trials] = field(default_factory=dict)
    broken: Mapping[NodeName, bool] = field(default_factory=dict)


_PLAN = TypeAdapter(Plan)
_HEAD = TypeAdapter(Head)
_TASK = TypeAdapter(UnitTask)
_FACTS = TypeAdapter(Facts)
_COUNTED = ("trials", "control", "broken")
_OWN = frozenset({"decisions", "pending", *_COUNTED})
_SAME = tuple(one.name for one in fields(Head) if one.name not in _OWN)


def plan_json(plan: Plan) -> str:
    """Written once."""
    return _PLAN.dump_json(plan).decode()


def head_json(rollout: Rollout) -> str:
    """Written with each change."""
    tallies = rollout.tallies
    head = Head(
        **{name: getattr(rollout, name) for name in _SAME},
        decisions=tuple(rollout.decisions.values()),
        pending=tuple(tallies.pending),
        **{name: getattr(tallies, name) for name in _COUNTED},
    )
    return _HEAD.dump_json(head).decode()


def task_json(task: UnitTask) -> str:
    """Of one unit."""
    return _TASK.dump_json(task).decode()


def facts_json(facts: Facts) -> str:
    """Of one node."""
    return _FACTS.dump_json(facts).decode()


def rollout_of(plan: str, head: str, tasks: Mapping[str, str], facts: Mapping[str, str]) -> Rollout:
    """What was kept, counted anew. Every node was heard now, so that nobody's silence is of our own absence."""
    kept = _HEAD.validate_json(head)
    rollout = Rollout(
        plan=_PLAN.validate_json(plan),
        **{name: getattr(kept, name) for name in _SAME},
        tasks={UnitName(name): _TASK.validate_json(text) for name, text in tasks.items()},
        facts={NodeName(name): _FACTS.validate_json(text) for name, text in facts.items()},
        heard=dict.fromkeys((NodeName(name) for name in facts), kept.clock),
        decisions={one.key: one for one in kept.decisions},
    )
    history = Tallies(pending=dict.fromkeys(kept.pending), **{name: getattr(kept, name) for name in _COUNTED})
    rollout = replace(rollout, tallies=history)
    return replace(rollout, tallies=recounted(rollout))
