"""What people may do to a promotion. Pure; what cannot be is a `Conflict`. Done twice, it is as done once."""

from dataclasses import replace
from datetime import datetime, timedelta

from provisioner.errors import Conflict
from provisioner.models.promotion import WAIVABLE, Approval, GateName, Promotion, PromotionState, Waiver
from provisioner.promotion.policy import Policy
from provisioner.promotion.step import end

_MAY_BE_APPROVED = {PromotionState.AWAITING_APPROVAL, PromotionState.APPROVED}


def request(there: Promotion | None, asked: Promotion) -> tuple[Promotion | None, Promotion]:
    """The one that is `there` as it ends, if it does; and the one that is open from now on.

    The same release again is the same promotion. Another one begins anew: nothing is taken over from the one before.
    """
    if there is None or there.has_ended:
        return None, asked
    if there.release == asked.release:
        return None, there
    why = f"{asked.requester} requested {asked.release_name} ({asked.release[:19]}) as {asked.id}"
    return end(there, PromotionState.SUPERSEDED, asked.requested_at, why), asked


def approve(promotion: Promotion, who: str, now: datetime, builders: frozenset[str]) -> Promotion:
    """A second person says yes, to the evidence that is there. Raises `Conflict`."""
    if any(one.who == who for one in promotion.approvals):
        return promotion
    _still_open(promotion, "approved")
    if who == promotion.requester:
        raise Conflict(f"{who} has requested {promotion.id}: somebody else approves it")
    if who in builders:
        raise Conflict(f"{who} has built {promotion.release_name}: somebody else approves it")
    if promotion.state not in _MAY_BE_APPROVED:
        shut = ", ".join(
            one.name.replace("_", " ") for one in promotion.gates if not one.is_open and _is_early(one.name)
        )
        raise Conflict(
            f"{promotion.id} is {promotion.state.replace('_', ' ')}: it is approved when its evidence is complete; "
            f"missing: {shut or 'its gates have not been looked at yet'}"
        )
    return replace(promotion, approvals=(*promotion.approvals, Approval(who, now)))


def reject(promotion: Promotion, who: str, now: datetime, reason: str) -> Promotion:
    """A person says no: it is over. Raises `Conflict` when it has ended otherwise."""
    if promotion.state is PromotionState.REJECTED:
        return promotion
    _still_open(promotion, "rejected")
    return end(promotion, PromotionState.REJECTED, now, f"rejected by {who}: {reason}")


def cancel(promotion: Promotion, who: str, now: datetime) -> Promotion:
    """Nobody wants it any more. Raises `Conflict` when it has ended otherwise."""
    if promotion.state is PromotionState.CANCELLED:
        return promotion
    _still_open(promotion, "cancelled")
    return end(promotion, PromotionState.CANCELLED, now, f"cancelled by {who}")


def waive(promotion: Promotion, asked: Waiver, policy: Policy) -> Promotion:
    """Ask to do without a gate, or be the second person who says so too. Raises `Conflict`.

    The second person confirms what the first one asked for: gate, reason and expiry stay as they were.
    """
    _still_open(promotion, "waived")
    if asked.gate not in WAIVABLE:
        names = ", ".join(sorted(WAIVABLE))
        raise Conflict(f"nobody waives {asked.gate.replace('_', ' ')}; what can be waived: {names}")
    there = next((one for one in promotion.waivers if one.gate is asked.gate and asked.at < one.expires_at), None)
    if there is None:
        _short_enough(asked, policy)
        others = tuple(one for one in promotion.waivers if one.gate is not asked.gate)
        return replace(promotion, waivers=(*others, replace(asked, confirmed_by=None)))
    if there.who == asked.who or there.confirmed_by is not None:
        return promotion
    confirmed = replace(there, confirmed_by=asked.who)
    return replace(promotion, waivers=tuple(confirmed if one is there else one for one in promotion.waivers))


def _short_enough(asked: Waiver, policy: Policy) -> None:
    if not timedelta(0) < asked.expires_at - asked.at <= policy.longest_waiver:
        days = policy.longest_waiver / timedelta(days=1)
        raise Conflict(f"a waiver ends within {days:g} days, and not in the past; name an earlier end")


def _is_early(name: GateName) -> bool:
    return name not in {GateName.SECOND_PERSON, GateName.FREEZE}


def _still_open(promotion: Promotion, what: str) -> None:
    if promotion.has_ended:
        raise Conflict(f"{promotion.id} is {promotion.state}: it cannot be {what}; request it again")
