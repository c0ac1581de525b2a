"""Each gate: what lets it through, what shuts it, and what it tells a person to do."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from profiles.release import Release
from profiles.release_constraints import ReleaseConstraints, reversibility
from provisioner.models.channel import Channel
from provisioner.models.promotion import Approval, Gate, GateName, GateState, Promotion, Waiver
from provisioner.promotion.edges import Edge, edge
from provisioner.promotion.facts import Evidence, Facts, PoolRelease
from provisioner.promotion.freeze import Freeze
from provisioner.promotion.gates import judge
from provisioner.promotion.policy import DEFAULTS, Policy
from provisioner.promotion.soak import Soak
from tests.promotion.samples import (
    BERLIN,
    NOW,
    a_promotion,
    a_release,
    good_facts,
    gpu_release,
    provenance,
    results,
    signed,
    whole_evidence,
    with_bios,
)

CANARY = DEFAULTS[Channel.CANARY]


def gates(
    facts: Facts, promotion: Promotion | None = None, policy: Policy = CANARY, now: datetime = NOW
) -> Mapping[GateName, Gate]:
    asked = promotion or a_promotion(facts.release)
    return {one.name: one for one in judge(asked, facts, policy, now)}


def test_with_everything_there_only_the_second_person_is_missing() -> None:
    found = gates(good_facts(gpu_release()))
    assert set(found) == set(GateName)
    assert [one.name for one in found.values() if not one.is_open] == [GateName.SECOND_PERSON]
    assert found[GateName.SECOND_PERSON].remedy == "an approver runs: firstlight promote approve p1"


def test_every_shut_gate_says_what_is_missing_and_what_to_do() -> None:
    release = gpu_release()
    away = (PoolRelease("old", "sha256:old", 3, Edge(("bios: no way",), ())),)
    policy = replace(CANARY, freezes=(Freeze("all", BERLIN, NOW - timedelta(days=1), NOW + timedelta(days=1)),))
    facts = Facts(release, Evidence(keys=True), Soak(), stops=("came back",), misfits=("R580 needs more",), pool=away)
    found = gates(facts, policy=policy)
    assert not any(one.is_open for one in found.values())
    assert all(one.seen and one.missing and one.remedy for one in found.values())


def test_a_site_without_keys_says_how_to_get_them() -> None:
    release = gpu_release()
    found = gates(good_facts(release, evidence=Evidence(keys=False)))
    for name in (GateName.SIGNATURES, GateName.TESTS, GateName.SBOM):
        assert found[name].state is GateState.WAITING
        assert "firstlight keys init DIR" in found[name].remedy
        assert "channels: {canary: {signatures: false" in found[name].remedy


def test_dev_asks_for_no_statement_and_no_person() -> None:
    facts = Facts(gpu_release(), Evidence(keys=False), Soak())
    found = gates(facts, policy=DEFAULTS[Channel.DEV])
    assert all(one.is_open for one in found.values())
    assert found[GateName.COMPATIBILITY].state is GateState.PASSED, "that one is always looked at"


class TestStatements:
    """Signed, about this image, and the last word."""

    def test_provenance_of_another_profile_is_none(self) -> None:
        release = gpu_release()
        other = Evidence(keys=True, signed=(signed(release, provenance(release, profile="gpu-r595")),))
        gate = gates(good_facts(release, evidence=other))[GateName.SIGNATURES]
        assert (gate.state, "gpu-r595" in gate.seen) == (GateState.FAILED, True)

    def test_what_was_refused_is_told(self) -> None:
        release = gpu_release()
        refused = Evidence(keys=True, refused=("f00: 1 of the 2 signatures that it needs",))
        gate = gates(good_facts(release, evidence=refused))[GateName.SIGNATURES]
        assert (gate.state, gate.seen) == (GateState.FAILED, "f00: 1 of the 2 signatures that it needs")

    @pytest.mark.parametrize(
        ("said", "state", "word"),
        [
            ([results(("reaches-ready",))], GateState.WAITING, "no-host-keys"),
            ([results(("reaches-ready",)), results(("no-host-keys",))], GateState.PASSED, ""),
            ([results(("reaches-ready", "no-host-keys")), results((), ("no-host-keys",), 1)], GateState.FAILED, ""),
            (
                [results((), ("no-host-keys",)), results(("reaches-ready", "no-host-keys"), hours=1)],
                GateState.PASSED,
                "",
            ),
            ([results(("pretty",))], GateState.WAITING, "reaches-ready, no-host-keys"),
        ],
    )
    def test_all_blocking_tests_have_passed_last(self, said: list, state: GateState, word: str) -> None:  # type: ignore[type-arg]  # of predicates
        release = gpu_release()
        evidence = Evidence(keys=True, signed=tuple(signed(release, one, n) for n, one in enumerate(said)))
        gate = gates(good_facts(release, evidence=evidence))[GateName.TESTS]
        assert gate.state is state
        assert word in gate.missing

    def test_gates_name_the_envelopes_that_they_were_judged_by(self) -> None:
        release = gpu_release()
        found = gates(good_facts(release))
        envelopes = [one.envelope for one in whole_evidence(release).signed]
        names = (GateName.SIGNATURES, GateName.TESTS, GateName.SBOM)
        assert [found[name].evidence for name in names] == [(one,) for one in envelopes]


class TestSoak:
    """Hours and node-hours and domains: all three."""

    @pytest.mark.parametrize(
        "soak",
        [
            Soak(0.9, 50.0, 5, 5),
            Soak(9.0, 1.9, 5, 5),
            Soak(9.0, 50.0, 0, 5),
        ],
    )
    def test_one_that_is_short_of_one_of_them_waits(self, soak: Soak) -> None:
        gate = gates(good_facts(gpu_release(), soak=soak))[GateName.SOAK]
        assert (gate.state, bool(gate.missing)) == (GateState.WAITING, True)
        assert "nobody has to do anything" in gate.remedy

    def test_where_no_node_runs_it_somebody_has_to_give_it_to_one(self) -> None:
        gate = gates(good_facts(gpu_release(), soak=Soak()))[GateName.SOAK]
        assert "firstlight node reimage NODE" in gate.remedy


class TestSecondPerson:
    """Approver, requester and builder are three."""

    def test_the_requester_and_the_builder_count_for_nothing(self) -> None:
        said = tuple(Approval(name, NOW) for name in ("ann", "bob", "eve", "eve"))
        asked = a_promotion(gpu_release(), approvals=said)
        facts = good_facts(gpu_release(), builders=frozenset({"bob"}))
        two = replace(CANARY, approvals=2)
        assert gates(facts, asked, two)[GateName.SECOND_PERSON].seen == "1 of 2: eve"
        assert gates(facts, asked)[GateName.SECOND_PERSON].state is GateState.PASSED

    def test_firmware_without_a_way_back_takes_one_person_more(self) -> None:
        pool = (PoolRelease("old", "sha256:old", 3, Edge((), ("bios",))),)
        asked = a_promotion(gpu_release(), approvals=(Approval("eve", NOW),))
        gate = gates(good_facts(gpu_release(), pool=pool), asked)[GateName.SECOND_PERSON]
        assert gate.state is GateState.WAITING
        assert "firmware of bios has no way back" in gate.seen


class TestWaivers:
    """Two persons, until a time; and never what must not be waived."""

    def waiver(self, gate: GateName, confirmed_by: str | None = "eve") -> Waiver:
        return Waiver(gate, "the lab is down", "bob", NOW, NOW + timedelta(days=1), confirmed_by)

    def test_a_waiver_of_two_persons_opens_its_gate_until_it_expires(self) -> None:
        facts = good_facts(gpu_release(), soak=Soak())
        asked = a_promotion(gpu_release(), waivers=(self.waiver(GateName.SOAK),))
        gate = gates(facts, asked)[GateName.SOAK]
        assert gate.state is GateState.WAIVED
        assert "bob and eve" in gate.seen
        assert "the lab is down" in gate.seen
        assert gates(facts, asked, now=NOW + timedelta(days=1))[GateName.SOAK].state is GateState.WAITING

    def test_one_person_alone_opens_nothing(self) -> None:
        asked = a_promotion(gpu_release(), waivers=(self.waiver(GateName.SOAK, None),))
        assert not gates(good_facts(gpu_release(), soak=Soak()), asked)[GateName.SOAK].is_open


class TestFreeze:
    """Local times, which summer and winter move."""

    @pytest.mark.parametrize(
        ("now", "shut"),
        [
            (datetime(2026, 12, 18, 22, 59, tzinfo=UTC), False),
            (datetime(2026, 12, 18, 23, 0, tzinfo=UTC), True),
            (datetime(2027, 1, 4, 6, 59, tzinfo=UTC), True),
            (datetime(2027, 1, 4, 7, 0, tzinfo=UTC), False),
        ],
    )
    def test_from_and_until_are_in_the_zone_of_the_calendar(self, now: datetime, shut: bool) -> None:
        ends = (datetime(2026, 12, 19, tzinfo=BERLIN), datetime(2027, 1, 4, 8, tzinfo=BERLIN))
        freeze = Freeze("year end", BERLIN, *ends)
        gate = gates(good_facts(gpu_release()), policy=replace(CANARY, freezes=(freeze,)), now=now)[GateName.FREEZE]
        assert (not gate.is_open) is shut
        assert not shut or gate.seen == "year end is in force until 2027-01-04 08:00 CET"


class TestEdges:
    """From what runs to what is wanted."""

    def test_a_release_may_say_which_ones_it_follows(self) -> None:
        old, new = a_release("a"), a_release("b")
        bound = new.model_copy(update={"constraints": ReleaseConstraints(from_releases=("sha256:" + "f" * 64,))})
        assert edge(old, new).refusals == ()
        assert "promote one of those first" in edge(old, bound).refusals[0]
        allowed = new.model_copy(update={"constraints": ReleaseConstraints(from_releases=(old.digest,))})
        assert edge(old, allowed).refusals == ()
        assert edge(bound, bound).refusals == (), "who runs it already goes nowhere"

    def test_older_firmware_is_refused_where_its_bundle_says_so(self) -> None:
        older, newer = with_bios(a_release(), "1.4"), with_bios(a_release(), "2.5")
        assert edge(older, newer) == Edge((), ())
        assert "bios: runs 2.5, newer than 1.4" in edge(newer, older).refusals[0]

    def test_what_cannot_go_back_is_told_before_and_refused_after(self) -> None:
        older, newer = with_bios(a_release(), "1.4", one_way=True), with_bios(a_release(), "2.5", one_way=True)
        assert edge(older, newer) == Edge((), ("bios",))
        assert "the device refuses what is older" in edge(newer, older).refusals[0]
        assert reversibility(newer.firmware, None).one_way == ("bios from 2.5",)
        assert reversibility(newer.firmware, ReleaseConstraints(firmware_downgrade=True)).firmware_downgrade is False
        assert reversibility(older.firmware, None).firmware_downgrade is True

    def test_another_hardware_class_is_refused(self) -> None:
        assert "it is for" in edge(a_release(name="gb200-2026-1"), a_release()).refusals[0]


def test_constraints_are_content_and_no_constraints_are_the_digest_of_before() -> None:
    release = a_release()
    empty = release.model_copy(update={"constraints": ReleaseConstraints()})
    said = release.model_copy(update={"constraints": ReleaseConstraints(firmware_downgrade=False)})
    assert empty.digest == release.digest != said.digest
    assert Release.model_validate_json(said.model_dump_json()).digest == said.digest
