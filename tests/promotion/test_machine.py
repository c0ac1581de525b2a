"""Whatever people and evidence do in whatever order, a pointer moves only as the rules say."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from profiles.release import Release
from provisioner.errors import Conflict
from provisioner.models.channel import Channel
from provisioner.models.promotion import WAIVABLE, GateName, Promotion, PromotionState, Waiver
from provisioner.promotion.facts import Evidence, Facts
from provisioner.promotion.freeze import Freeze
from provisioner.promotion.gates import judge
from provisioner.promotion.people import approve, cancel, reject, request, waive
from provisioner.promotion.policy import DEFAULTS, Policy
from provisioner.promotion.soak import Soak
from provisioner.promotion.step import step
from tests.promotion.samples import BERLIN, NOW, PLENTY, a_promotion, gpu_release, whole_evidence

PEOPLE = ("ann", "bob", "eve", "zoe")
CANDIDATES = ("a", "b", "c")
BUILDER = "bob"
EVIDENCE = cache(lambda name: whole_evidence(gpu_release(name)))
FOR_EVER = Freeze("for ever", BERLIN, NOW - timedelta(days=9999), NOW + timedelta(days=9999))

who = st.sampled_from(PEOPLE)
candidate = st.sampled_from(CANDIDATES)


@dataclass(slots=True)
class World:
    """What is true of a candidate outside."""

    whole: bool = True
    soaked: bool = True
    stopped: bool = False
    approved_by: set[str] = field(default_factory=set)
    """Since the promotion that is open now was requested."""


@cache
def digest_of(name: str) -> str:
    return gpu_release(name).digest


class Promoting(RuleBasedStateMachine):
    """One channel of one hardware class, four persons, three candidates."""

    def __init__(self) -> None:
        super().__init__()
        self.now: datetime = NOW
        self.world = {name: World() for name in CANDIDATES}
        self.frozen = False
        self.count = 0
        self.open: Promotion | None = None
        self.pointer: str | None = None
        self.expected: str | None = None

    def release(self, name: str) -> Release:
        return gpu_release(name)

    @property
    def letter(self) -> str:
        assert self.open is not None
        return next(name for name in CANDIDATES if digest_of(name) == self.open.release)

    def facts(self) -> Facts:
        release, world = self.release(self.letter), self.world[self.letter]
        return Facts(
            release=release,
            evidence=EVIDENCE(self.letter) if world.whole else Evidence(keys=True),
            soak=PLENTY if world.soaked else Soak(),
            stops=("a unit failed",) if world.stopped else (),
            builders=frozenset({BUILDER}),
        )

    def policy(self) -> Policy:
        return replace(DEFAULTS[Channel.CANARY], freezes=(FOR_EVER,) if self.frozen else ())

    @rule(who=who, name=candidate)
    def requests(self, who: str, name: str) -> None:
        self.count += 1
        asked = a_promotion(
            self.release(name),
            id=f"p{self.count}",
            requester=who,
            requested_at=self.now,
            expires_at=self.now + timedelta(days=14),
        )
        before = self.open
        _, self.open = request(self.open, asked)
        if self.open is asked:
            self.world[name].approved_by = set()
            assert not self.open.approvals, "nothing is taken over"
        else:
            assert self.open == before, "the same release is the same promotion"
            assert self.letter == name

    @rule(name=candidate, what=st.sampled_from(("whole", "soaked", "stopped")), value=st.booleans())
    def something_becomes_true_or_false(self, name: str, what: str, value: bool) -> None:
        setattr(self.world[name], what, value)

    @rule(value=st.booleans())
    def the_calendar_changes(self, value: bool) -> None:
        self.frozen = value

    @rule(hours=st.sampled_from((1, 23, 24 * 7)))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(who=who)
    def approves(self, who: str) -> None:
        if self.open is None:
            return
        try:
            self.open = approve(self.open, who, self.now, self.facts().builders)
        except Conflict:
            return
        self.world[self.letter].approved_by.add(who)

    @rule(name=candidate, one=who, other=who)
    def goes_its_way(self, name: str, one: str, other: str) -> None:
        """What usually happens; else the machine hardly ever gets there."""
        self.requests(one, name)
        self.the_loop_looks()
        self.approves(other)
        self.the_loop_looks()

    @rule(who=who, gate=st.sampled_from(tuple(GateName)))
    def waives(self, who: str, gate: GateName) -> None:
        if self.open is None:
            return
        asked = Waiver(gate, "it must be", who, self.now, self.now + timedelta(hours=20))
        try:
            self.open = waive(self.open, asked, self.policy())
        except Conflict:
            assert gate not in WAIVABLE or self.open.has_ended

    @rule(who=who, no=st.booleans())
    def gives_it_up(self, who: str, no: bool) -> None:
        if self.open is None:
            return
        try:
            self.open = reject(self.open, who, self.now, "no") if no else cancel(self.open, who, self.now)
        except Conflict:
            assert self.open.has_ended

    @rule()
    def the_loop_looks(self) -> None:
        for _ in range(3):
            self.look()

    def look(self) -> None:
        if self.open is None:
            return
        before = self.open
        gates = judge(before, self.facts(), self.policy(), self.now)
        after = step(before, gates, self.now)
        self.open = after.promotion
        if after.apply:
            self.check_applied(before)
            self.pointer = self.expected = self.letter

    def check_applied(self, before: Promotion) -> None:
        """Everything was so at the moment of applying, or two persons did without it."""
        assert before.state is PromotionState.APPROVED
        world, waived = self.world[self.letter], self.waived(before)
        assert not world.stopped
        assert world.soaked or GateName.SOAK in waived
        assert world.whole or waived >= {GateName.SIGNATURES, GateName.TESTS, GateName.SBOM}
        assert not self.frozen or GateName.FREEZE in waived
        assert world.approved_by - {before.requester, BUILDER}, "a second person said yes to this candidate"
        assert self.now < before.expires_at

    def waived(self, promotion: Promotion) -> set[GateName]:
        good = {one.gate for one in promotion.waivers if one.confirmed_by and self.now < one.expires_at}
        assert all(one.who != one.confirmed_by for one in promotion.waivers), "two persons"
        assert good <= WAIVABLE
        return good

    @invariant()
    def the_pointer_moves_by_applying_only(self) -> None:
        assert self.pointer == self.expected

    @invariant()
    def nobody_approves_for_himself(self) -> None:
        if self.open is not None:
            names = {one.who for one in self.open.approvals}
            assert not names & {self.open.requester, BUILDER}

    @invariant()
    def the_end_is_the_end(self) -> None:
        if self.open is not None and self.open.has_ended:
            assert self.open.ended_at is not None
            assert step(self.open, (), self.now + timedelta(days=99)).promotion == self.open


Promoting.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestPromoting = Promoting.TestCase
