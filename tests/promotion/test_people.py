"""What people may do to a promotion, and what a promotion does with it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from provisioner.errors import Conflict
from provisioner.models.channel import Channel, Movement
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import GateName, Promotion, PromotionState, Waiver
from provisioner.promotion.facts import Evidence
from provisioner.promotion.gates import judge
from provisioner.promotion.history import earlier
from provisioner.promotion.people import approve, cancel, reject, request, waive
from provisioner.promotion.policy import DEFAULTS
from provisioner.promotion.soak import LONGEST, Soak, grown
from provisioner.promotion.step import step
from tests.promotion.samples import NOW, a_promotion, good_facts, gpu_release

CANARY = DEFAULTS[Channel.CANARY]
DAY = timedelta(days=1)
NOBODY: frozenset[str] = frozenset()


def settle(promotion: Promotion, **fields: object) -> Promotion:
    """Steps until nothing changes; the facts are good but for these."""
    facts = good_facts(gpu_release(), **fields)
    for _ in range(10):
        gates = judge(promotion, facts, CANARY, NOW)
        after = step(promotion, gates, NOW).promotion
        if after == promotion:
            return promotion
        promotion = after
    raise AssertionError("it never settles")


def test_it_goes_from_requested_to_applied() -> None:
    asked = a_promotion(gpu_release())
    states = [asked.state]
    for _ in range(2):
        asked = step(asked, judge(asked, good_facts(gpu_release()), CANARY, NOW), NOW).promotion
        states.append(asked.state)
    assert states == [PromotionState.REQUESTED, PromotionState.CHECKING, PromotionState.AWAITING_APPROVAL]
    approved = approve(asked, "eve", NOW, NOBODY)
    assert settle(approved).state is PromotionState.APPLIED
    assert settle(asked, evidence=Evidence(keys=True)).state is PromotionState.CHECKING
    assert settle(asked, soak=Soak()).state is PromotionState.AWAITING_SOAK


def test_an_approved_one_goes_back_when_a_stop_rule_opens() -> None:
    approved = approve(settle(a_promotion(gpu_release())), "eve", NOW, NOBODY)
    stopped = settle(approved, stops=("two units failed",))
    assert stopped.state is PromotionState.CHECKING
    assert settle(stopped).state is PromotionState.APPLIED


def test_nobody_approves_what_has_not_soaked() -> None:
    waiting = settle(a_promotion(gpu_release()), soak=Soak())
    with pytest.raises(Conflict, match="missing: soak"):
        approve(waiting, "eve", NOW, NOBODY)


@pytest.mark.parametrize(("who", "why"), [("ann", "has requested"), ("bob", "has built")])
def test_requester_and_builder_do_not_approve(who: str, why: str) -> None:
    with pytest.raises(Conflict, match=why):
        approve(settle(a_promotion(gpu_release())), who, NOW, frozenset({"bob"}))


def test_the_same_release_again_is_the_same_promotion_and_another_begins_anew() -> None:
    """fluxcd/flagger#30: a new revision went on with the analysis of the old one."""
    there = approve(settle(a_promotion(gpu_release())), "eve", NOW, NOBODY)
    assert request(there, a_promotion(gpu_release(), id="p2", requester="bob")) == (None, there)
    other = a_promotion(gpu_release("b"), id="p2")
    ended, opened = request(there, other)
    assert ended is not None
    assert (ended.state, ended.why[:13]) == (PromotionState.SUPERSEDED, "ann requested")
    assert (opened.approvals, opened.waivers, opened.state) == ((), (), PromotionState.REQUESTED)
    assert request(ended, other) == (None, other)


def test_what_has_ended_stays_as_it_is() -> None:
    asked = settle(a_promotion(gpu_release()))
    for ended in (reject(asked, "eve", NOW, "no"), cancel(asked, "ann", NOW)):
        assert step(ended, (), NOW + 99 * DAY).promotion == ended
        with pytest.raises(Conflict):
            approve(ended, "eve", NOW, NOBODY)
    assert reject(reject(asked, "eve", NOW, "no"), "bob", NOW, "no!").why == "rejected by eve: no"
    with pytest.raises(Conflict):
        cancel(reject(asked, "eve", NOW, "no"), "ann", NOW)


def test_one_that_nobody_finishes_expires() -> None:
    waiting = settle(a_promotion(gpu_release()), soak=Soak())
    after = step(waiting, waiting.gates, NOW + 14 * DAY).promotion
    assert (after.state, after.ended_at) == (PromotionState.EXPIRED, NOW + 14 * DAY)


class TestWaiving:
    """The first asks, the second confirms what the first has asked for."""

    def asked(self, who: str, gate: GateName = GateName.SOAK, days: int = 1) -> Waiver:
        return Waiver(gate, f"{who} says so", who, NOW, NOW + days * DAY)

    def test_it_takes_two(self) -> None:
        one = waive(a_promotion(gpu_release()), self.asked("bob"), CANARY)
        assert one.waivers[0].confirmed_by is None
        assert waive(one, self.asked("bob", days=5), CANARY) == one
        two = waive(one, self.asked("eve", days=5), CANARY)
        assert two.waivers == (replace(one.waivers[0], confirmed_by="eve"),)
        assert waive(two, self.asked("zoe"), CANARY) == two

    @pytest.mark.parametrize("gate", [GateName.STOPS, GateName.COMPATIBILITY, GateName.SECOND_PERSON])
    def test_some_gates_nobody_waives(self, gate: GateName) -> None:
        with pytest.raises(Conflict, match="nobody waives"):
            waive(a_promotion(gpu_release()), self.asked("bob", gate), CANARY)

    @pytest.mark.parametrize("days", [-1, 0, 8])
    def test_it_ends_soon(self, days: int) -> None:
        with pytest.raises(Conflict, match="within 7 days"):
            waive(a_promotion(gpu_release()), self.asked("bob", days=days), CANARY)

    def test_nobody_confirms_one_that_has_expired_or_brings_his_own_confirmation(self) -> None:
        forged = replace(self.asked("bob"), confirmed_by="eve")
        one = waive(a_promotion(gpu_release()), forged, CANARY)
        assert one.waivers[0].confirmed_by is None
        late = replace(self.asked("eve"), at=NOW + 2 * DAY, expires_at=NOW + 3 * DAY)
        assert waive(one, late, CANARY).waivers == (late,)


def test_a_rollback_goes_to_what_stood_before_and_takes_away_what_stood_after() -> None:
    a, b, c = (ReleaseDigest(f"sha256:{name}") for name in "abc")
    history = [Movement(n, one, NOW, "ann", "", "p") for n, one in enumerate((a, b, c), 1)]
    assert earlier([]) == ()
    assert earlier(history[:1]) == ()
    assert earlier(history) == (b, a)
    back = Movement(4, a, NOW, "bob", "c is bad", None)
    assert earlier([*history, back]) == ()
    assert earlier([*history, back, Movement(5, c, NOW, "ann", "", "p")]) == (a,)


def test_a_soak_grows_by_the_slower_of_two_clocks_and_never_by_much() -> None:
    """A clock that jumps hours ahead ends no soak early, and one that jumps back takes nothing away."""
    second = timedelta(seconds=1)
    assert grown(None, NOW, DAY) == timedelta(0)
    assert grown(NOW, NOW + 30 * second, 60 * second) == 30 * second
    assert grown(NOW, NOW + 5 * DAY, 60 * second) == 60 * second
    assert grown(NOW, NOW - DAY, 60 * second) == timedelta(0)
    assert grown(NOW, NOW + DAY, DAY) == LONGEST
