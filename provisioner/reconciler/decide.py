"""What to do about one node now. Pure and level-triggered: it may be asked at any time, by every worker at once."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from provisioner.lifecycle.table import RULES
from provisioner.models.identifiers import OperationId, RunKey
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.node import Node
from provisioner.models.operation import Run, RunStatus
from provisioner.operations.conclude import TRIES

_ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})
_LOST_WAIT = timedelta(seconds=30)
_LAST_BREATH = timedelta(seconds=2)
"""Real time that a run may take to end after its last step, which has moved the node."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Leave it alone."""


@dataclass(frozen=True, slots=True)
class Start:
    """Start this run."""

    key: RunKey


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop these runs: they are not what the node waits for."""

    runs: tuple[OperationId, ...]


@dataclass(frozen=True, slots=True)
class LookAgain:
    """End a hold whose time to look again has come."""


@dataclass(frozen=True, slots=True)
class CountAsFailed:
    """The run has ended without saying how: a new attempt."""

    reason: str
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class HoldIt:
    """It takes longer than the table allows."""

    hold: Hold


Decision = Nothing | Start | Cancel | LookAgain | CountAsFailed | HoldIt


def decide(node: Node, runs: tuple[Run, ...], now: datetime, pace: float = 1.0) -> Decision:
    """`runs`: every active run of the node, and the run that it waits for if that one exists.

    `pace`: real seconds per second of the lifecycle table's time limits.
    """
    key = current_key(node)
    others = tuple(run for run in runs if run.status in _ACTIVE and (key is None or run.id != key.id))
    if any(not _has_concluded(run, node) for run in others):
        stale = tuple(run.id for run in others)
        return Cancel(stale) if now - node.state_since > _LAST_BREATH else Nothing()
    if node.hold is not None:
        due = node.hold.retry_at is not None and node.hold.retry_at <= now
        return LookAgain() if due else Nothing()
    if key is None or (node.retry_at is not None and node.retry_at > now):
        return Nothing()
    mine = next((run for run in runs if run.id == key.id), None)
    if mine is None:
        return Start(key)
    if mine.status is RunStatus.QUEUED:
        return Nothing()  # the rack's limit makes it wait, and that is no fault
    if mine.status is RunStatus.RUNNING:
        return _too_long(node, now, pace)
    if node.failures + 1 >= TRIES:
        return HoldIt(_broken(node, mine, now))
    return CountAsFailed(f"{key.id} ended as {mine.status} without a result", now + _LOST_WAIT * pace)


def current_key(node: Node) -> RunKey | None:
    """The run that the node waits for; None where nothing runs by itself."""
    operation = RULES[node.state].operation
    if operation is None or node.hold is not None:
        return None
    return RunKey(operation, node.name, node.generation, node.attempt)


def _has_concluded(run: Run, node: Node) -> bool:
    """The run's last step has moved the node on: nothing more comes of it, only the engine has not noted its end."""
    key = RunKey.parse(run.id)
    moved = any(rule.operation == key.operation and node.state in rule.to for rule in RULES.values())
    return moved and key.generation == node.generation and node.hold is None


def _broken(node: Node, run: Run, now: datetime) -> Hold:
    return Hold(
        reason=f"{run.id} ended as {run.status} without a result, as {TRIES - 1} tries before it failed",
        instruction=Instruction(
            owner=Owner.OPERATOR,
            where="the log of the service",
            what=f"this is a fault of Firstlight: report what its log says about {run.id}; "
            f"then: firstlight node release {node.name}",
            done_when="the step ends with a result",
        ),
        since=now,
    )


def _too_long(node: Node, now: datetime, pace: float) -> Decision:
    rule = RULES[node.state]
    if rule.limit is None or (now - node.state_since) <= rule.limit * pace:
        return Nothing()
    hours = rule.limit.total_seconds() / 3600
    return HoldIt(
        Hold(
            reason=f"{rule.doing} has taken longer than {hours:g} hours",
            instruction=Instruction(
                owner=Owner.OPERATOR,
                where=node.place,
                what=f"see what it was doing last (firstlight node why {node.name}) and look at the server's console; "
                f"then: firstlight node release {node.name}",
                done_when="the step ends within its time",
            ),
            since=now,
        )
    )
