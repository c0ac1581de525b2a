"""Promotions as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.channel import Channel
from provisioner.models.promotion import Gate, GateName, GateState, Promotion, PromotionLine, PromotionState, Waiver


class GateView(BaseModel):
    """One gate as it was last seen. What is `missing` and the `remedy` are empty where it lets through.

    `evidence`: digests of the signed statements that it was judged by.
    """

    name: GateName
    state: GateState
    seen: str
    missing: str
    remedy: str
    evidence: list[str]

    @classmethod
    def of(cls, gate: Gate) -> Self:
        """The view."""
        return cls(
            name=gate.name,
            state=gate.state,
            seen=gate.seen,
            missing=gate.missing,
            remedy=gate.remedy,
            evidence=list(gate.evidence),
        )


class ApprovalView(BaseModel):
    """A person has looked, and says yes."""

    who: str
    at: datetime


class WaiverView(BaseModel):
    """A gate that two persons do without; while `confirmed_by` is null, one has only asked for it."""

    gate: GateName
    reason: str
    who: str
    at: datetime
    expires_at: datetime
    confirmed_by: str | None

    @classmethod
    def of(cls, waiver: Waiver) -> Self:
        """The view."""
        return cls(
            gate=waiver.gate,
            reason=waiver.reason,
            who=waiver.who,
            at=waiver.at,
            expires_at=waiver.expires_at,
            confirmed_by=waiver.confirmed_by,
        )


class PromotionView(BaseModel):
    """A promotion in a list. Only an applied one has moved the pointer of its channel."""

    id: str
    channel: Channel
    hardware_class: str
    release: str
    release_name: str
    state: PromotionState
    requester: str
    requested_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    why: str
    """Why it ended, where a person or another promotion ended it."""

    @classmethod
    def of(cls, promotion: Promotion) -> Self:
        """The view."""
        return cls.model_validate(_values(promotion))


class HistoryLine(BaseModel):
    """Something that happened."""

    at: datetime
    what: str


class PromotionDetail(PromotionView):
    """Everything about one. `decision`: digest of the signed statement about how it ended."""

    reason: str
    since: datetime | None
    gates: list[GateView]
    approvals: list[ApprovalView]
    waivers: list[WaiverView]
    decision: str | None
    history: list[HistoryLine]

    @classmethod
    def assemble(cls, promotion: Promotion, history: Sequence[PromotionLine]) -> Self:
        """The view."""
        more = {
            "reason": promotion.reason,
            "since": promotion.since,
            "gates": [GateView.of(one) for one in promotion.gates],
            "approvals": [ApprovalView(who=one.who, at=one.at) for one in promotion.approvals],
            "waivers": [WaiverView.of(one) for one in promotion.waivers],
            "decision": promotion.decision,
            "history": [HistoryLine(at=one.at, what=one.what) for one in history],
        }
        return cls.model_validate(_values(promotion) | more)


class PromotionPage(BaseModel):
    """Newest first. `next` is the cursor of the page after this one; null on the last."""

    promotions: list[PromotionView]
    next: str | None


def _values(promotion: Promotion) -> dict[str, object]:
    return {
        "id": promotion.id,
        "channel": promotion.channel,
        "hardware_class": promotion.hardware_class,
        "release": promotion.release,
        "release_name": promotion.release_name,
        "state": promotion.state,
        "requester": promotion.requester,
        "requested_at": promotion.requested_at,
        "expires_at": promotion.expires_at,
        "ended_at": promotion.ended_at,
        "why": promotion.why,
    }
