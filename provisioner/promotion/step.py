"""How a promotion goes on. Pure and level-triggered: what was seen is passed in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from provisioner.models.promotion import Gate, GateName, Promotion, PromotionState

_LAST = (
    (GateName.SOAK, PromotionState.AWAITING_SOAK),
    (GateName.SECOND_PERSON, PromotionState.AWAITING_APPROVAL),
)
"""In this order, once all others are open: nobody approves what has not soaked. The freeze holds what is approved."""


@dataclass(frozen=True, slots=True)
class Step:
    """The promotion as it should be kept. `apply`: and its pointer moved, in the same transaction."""

    promotion: Promotion
    apply: bool = False


def step(promotion: Promotion, gates: Sequence[Gate], now: datetime) -> Step:
    """One step. It is not applied before it was kept as approved with the gates that let it through."""
    if promotion.has_ended:
        return Step(promotion)
    if now >= promotion.expires_at:
        why = f"not applied within {(promotion.expires_at - promotion.requested_at).days} days; request it again"
        return Step(end(promotion, PromotionState.EXPIRED, now, why))
    state = _state(gates)
    approved = promotion.state is PromotionState.APPROVED and state is PromotionState.APPROVED
    if approved and _is_open(gates, GateName.FREEZE):
        applied = replace(promotion, gates=tuple(gates))
        return Step(end(applied, PromotionState.APPLIED, now, ""), apply=True)
    if promotion.state is PromotionState.REQUESTED:
        state = PromotionState.CHECKING
    since = promotion.since if state is promotion.state else now
    return Step(replace(promotion, state=state, since=since, gates=tuple(gates)))


def end(promotion: Promotion, state: PromotionState, now: datetime, why: str) -> Promotion:
    """It is over."""
    return replace(promotion, state=state, since=now, ended_at=now, why=why)


def _state(gates: Sequence[Gate]) -> PromotionState:
    """Where it stands by its gates alone."""
    later = {*(name for name, _ in _LAST), GateName.FREEZE}
    names = {one.name for one in gates}
    if names != set(GateName) or any(not one.is_open for one in gates if one.name not in later):
        return PromotionState.CHECKING
    for name, state in _LAST:
        if not _is_open(gates, name):
            return state
    return PromotionState.APPROVED


def _is_open(gates: Sequence[Gate], name: GateName) -> bool:
    return any(one.name is name and one.is_open for one in gates)
