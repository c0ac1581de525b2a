"""Nodes as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.event import Event
from provisioner.models.instruction import Hold, Instruction
from provisioner.services.glance import Glance
from provisioner.services.nodes import Explanation
from provisioner.services.plans import NodePlan, PlanStep


class InstructionView(BaseModel):
    """What one person does next."""

    owner: str
    where: str
    what: str
    done_when: str
    part: str | None

    @classmethod
    def of(cls, one: Instruction) -> Self:
        """The view."""
        return cls(owner=one.owner, where=one.where, what=one.what, done_when=one.done_when, part=one.part)


class HoldView(BaseModel):
    """Why a node waits."""

    reason: str
    since: datetime
    retry_at: datetime | None
    held_from: str | None
    instruction: InstructionView

    @classmethod
    def of(cls, hold: Hold, held_from: str | None) -> Self:
        """The view."""
        instruction = InstructionView.of(hold.instruction)
        return cls(
            reason=hold.reason,
            since=hold.since,
            retry_at=hold.retry_at,
            held_from=held_from,
            instruction=instruction,
        )


class NodeView(BaseModel):
    """One node in one line. `way`: how much of the way to ready is done, 0 to 1; `left_seconds`: of real time."""

    name: str
    rack: str
    position: int
    state: str
    since: datetime
    doing: str
    percent: float | None
    way: float
    left_seconds: float | None
    owner: str
    hold: HoldView | None
    hardware_class: str | None
    release: str | None

    @classmethod
    def of(cls, seen: Glance) -> Self:
        """The view."""
        node = seen.node
        return cls(
            name=node.name,
            rack=node.rack,
            position=node.position,
            state=node.state,
            since=node.state_since,
            doing=seen.doing,
            percent=seen.percent,
            way=round(seen.way, 3),
            left_seconds=None if seen.left is None else seen.left.total_seconds(),
            owner=seen.owner,
            hold=HoldView.of(node.hold, node.held_from) if node.hold else None,
            hardware_class=node.hardware_class,
            release=node.release,
        )


class NodePage(BaseModel):
    """`next` is the cursor of the page after this one; null on the last."""

    nodes: list[NodeView]
    next: str | None


class EventView(BaseModel):
    """One line of a history."""

    id: int
    at: datetime
    node: str
    kind: str
    reason: str
    from_state: str | None
    to_state: str | None

    @classmethod
    def of(cls, event: Event) -> Self:
        """The view."""
        return cls(
            id=event.id,
            at=event.at,
            node=event.node,
            kind=event.kind,
            reason=event.reason,
            from_state=event.from_state,
            to_state=event.to_state,
        )


class History(BaseModel):
    """Oldest first."""

    events: list[EventView]

    @classmethod
    def of(cls, events: Sequence[Event]) -> Self:
        """The view."""
        return cls(events=[EventView.of(one) for one in events])


class ExplanationView(BaseModel):
    """Why a node is where it is. Either `instruction` or `wait_seconds` is given, or neither where it rests."""

    node: str
    place: str
    state: str
    since: datetime
    doing: str
    percent: float | None
    owner: str
    seen: str | None
    instruction: InstructionView | None
    retry_at: datetime | None
    wait_seconds: float | None
    events: list[EventView]

    @classmethod
    def of(cls, why: Explanation) -> Self:
        """The view."""
        hold = why.node.hold
        return cls(
            node=why.node.name,
            place=why.node.place,
            state=why.node.state,
            since=why.since,
            doing=why.doing,
            percent=why.progress.percent if why.progress else None,
            owner=why.owner,
            seen=hold.reason if hold else None,
            instruction=InstructionView.of(why.instruction) if why.instruction else None,
            retry_at=hold.retry_at if hold else why.node.retry_at,
            wait_seconds=None if why.wait is None else why.wait.total_seconds(),
            events=[EventView.of(one) for one in why.history],
        )


class PlanStepView(BaseModel):
    """One thing that would be done. `resets`: bmc, host or nothing."""

    what: str
    expected_seconds: float
    resets: str
    refusals: list[str]

    @classmethod
    def of(cls, step: PlanStep) -> Self:
        """The view."""
        expected = step.expected.total_seconds()
        return cls(what=step.what, expected_seconds=expected, resets=step.resets, refusals=list(step.refusals))


class PlanView(BaseModel):
    """What would be done to a node, in order, at the pace of real hardware."""

    node: str
    release: str | None
    steps: list[PlanStepView]
    host_resets: int
    expected_seconds: float

    @classmethod
    def of(cls, plan: NodePlan) -> Self:
        """The view."""
        return cls(
            node=plan.node.name,
            release=plan.release,
            steps=[PlanStepView.of(step) for step in plan.steps],
            host_resets=plan.host_resets,
            expected_seconds=plan.expected.total_seconds(),
        )
