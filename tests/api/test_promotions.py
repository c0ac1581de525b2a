"""Promotions over HTTP: from a request to a moved pointer, and everything that stands between."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from images.digest import parse_digest
from images.statements.envelope import verify
from images.statements.statement import PromotionDecision
from images.trust.keys import Role as Key
from provisioner.models.channel import Channel
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import Approval
from provisioner.models.role import Role
from provisioner.promotion.freeze import Freeze
from provisioner.promotion.policy import DEFAULTS, Policy
from provisioner.promotion_loop import look
from tests.api.promoting import (
    KEYRING,
    change,
    gates,
    give_keys,
    made,
    post,
    provenance,
    requested,
    runs,
    say,
    soaked,
    the_image,
    whole_evidence,
)
from tests.api.site import Site
from tests.promotion.samples import BERLIN, H100

HERE = f"?hardware_class={H100}"
ZERO = "sha256:" + "0" * 64


def audited(site: Site) -> list[tuple[str, str, str]]:
    lines = site.get("/v1/audit").json()["lines"]
    return [(one["who"], one["what"], one["after"]) for one in lines]


def shown(site: Site, promotion: dict) -> dict:  # type: ignore[type-arg]  # JSON
    answer: dict = site.get(f"/v1/promotions/{promotion['id']}").json()  # type: ignore[type-arg]
    return answer


def look_once(site: Site) -> None:
    """What the loop does."""
    service = site.app.state.service
    site.run(look(service.world, service.promotion))


def policies(**fields: object) -> dict[Channel, Policy]:
    """Canary asks for other things."""
    return {**DEFAULTS, Channel.CANARY: replace(DEFAULTS[Channel.CANARY], **fields)}  # type: ignore[arg-type]


def test_dev_is_applied_at_once(site: Site) -> None:
    digest = made(site)
    asked = requested(site, digest, role=Role.IMAGE_OWNER)
    assert asked["state"] == "applied"
    channel = site.get(f"/v1/channels/dev{HERE}")
    assert channel.headers["ETag"] == '"1"'
    assert channel.json()["release"] == digest
    assert channel.json()["history"][0]["promotion"] == asked["id"]
    assert [what for _, what, _ in audited(site)] == ["release.create", "promotion.request", "promotion.apply"]
    assert {after for _, _, after in audited(site)} == {digest}
    again = post(site, "/v1/promotions", {"channel": "dev", "release": digest, "reason": "again"})
    assert (again.status_code, "already" in again.json()["detail"]) == (409, True)
    history = [line["what"] for line in shown(site, asked)["history"]]
    assert (history[0], history[-1]) == ("requested by image-owner", f"applied: dev stands at {digest}")


def test_what_nodes_could_not_boot_is_not_promoted(site: Site) -> None:
    """A release outlives its image where nothing has pointed to it."""
    digest = made(site)
    for one in the_image(site).artefacts:
        site.files.store.path(one.digest).unlink()
    refused = post(site, "/v1/promotions", {"channel": "dev", "release": digest, "reason": "spring"}, Role.OPERATOR)
    assert (refused.status_code, "firstlight image build agent-x86-64" in refused.json()["detail"]) == (409, True)


def test_a_site_without_keys_says_what_to_run(site: Site) -> None:
    asked = requested(site, made(site), "canary")
    assert asked["state"] == "checking"
    gate = next(one for one in asked["gates"] if one["name"] == "signatures")
    assert "firstlight keys init DIR" in gate["remedy"]
    assert site.get("/v1/channels").json() == {"channels": []}


def test_canary_takes_statements_a_soak_and_a_second_person(site: Site) -> None:
    digest = made(site)
    give_keys(site)
    asked = requested(site, digest, "canary")
    assert gates(asked)["signatures"] == "waiting"
    whole_evidence(site)
    look_once(site)
    assert shown(site, asked)["state"] == "awaiting_soak"
    early = post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.APPROVER)
    assert (early.status_code, "soak" in early.json()["detail"]) == (409, True)
    soaked(site, digest)
    look_once(site)
    assert shown(site, asked)["state"] == "awaiting_approval"
    own = post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.OPERATOR)
    assert (own.status_code, "somebody else approves it" in own.json()["detail"]) == (409, True)
    done = post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.APPROVER)
    assert (done.status_code, done.json()["state"]) == (200, "applied")
    assert site.get(f"/v1/channels/canary{HERE}").json()["release"] == digest
    applied = site.get("/v1/audit").json()["lines"][-1]
    assert (applied["what"], applied["who"], len(applied["evidence"])) == ("promotion.apply", "operator", 2)


def test_what_was_decided_is_signed(site: Site) -> None:
    """By the service's own key, about the image and the release; once, however many workers do it."""
    digest = made(site)
    whole_evidence(site)
    soaked(site, digest)
    asked = requested(site, digest, "canary")
    post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.APPROVER)
    for _ in range(2):
        look_once(site)
    envelope = shown(site, asked)["decision"]
    content = site.files.store.path(parse_digest(envelope)).read_bytes()
    decision = verify(content, KEYRING[Key.SNAPSHOT], parse_digest(digest)).predicate
    assert isinstance(decision, PromotionDecision)
    assert (decision.outcome, decision.requester, decision.approvers) == ("APPLIED", "operator", ("approver",))
    assert len(decision.evidence) == 2
    later = requested(site, made(site, firmware_downgrade=False), "canary")
    assert gates(later)["signatures"] == "passed", "what the service signed itself is no doubtful statement"


def test_signatures_of_one_release_manager_are_not_enough(site: Site) -> None:
    give_keys(site)
    say(site, provenance(), signers=1)
    asked = requested(site, made(site), "canary")
    gate = next(one for one in asked["gates"] if one["name"] == "signatures")
    assert (gate["state"], "1 of the 2 signatures" in gate["seen"]) == ("failed", True)


def test_the_builder_does_not_approve(site: Site) -> None:
    """Who made the release, and who signed for the build of its image."""
    digest = made(site, role=Role.ADMIN)
    whole_evidence(site)
    say(site, provenance(builder="approver"))
    soaked(site, digest)
    asked = requested(site, digest, "canary", Role.IMAGE_OWNER)
    assert asked["state"] == "awaiting_approval"
    for role in (Role.ADMIN, Role.APPROVER):
        refused = post(site, f"/v1/promotions/{asked['id']}:approve", role=role)
        assert (refused.status_code, "has built" in refused.json()["detail"]) == (409, True)
    assert post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.OPERATOR).json()["state"] == "applied"


def test_another_candidate_begins_anew(site: Site) -> None:
    first, second = made(site), made(site, firmware_downgrade=True)
    whole_evidence(site)
    frozen = Freeze("all", BERLIN, datetime(2020, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC))
    change(site, policies=policies(freezes=(frozen,)))
    soaked(site, first)
    asked = requested(site, first, "canary")
    approved = post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.APPROVER).json()
    assert (approved["state"], gates(approved)["freeze"]) == ("approved", "waiting")
    same = post(site, "/v1/promotions", {"channel": "canary", "release": first, "reason": "again"})
    assert (same.status_code, same.json()["id"]) == (200, asked["id"])
    other = requested(site, second, "canary")
    assert (other["state"], other["approvals"]) == ("awaiting_soak", [])
    assert shown(site, asked)["state"] == "superseded"
    assert site.get(f"/v1/channels/canary{HERE}").status_code == 404


def test_after_the_freeze_it_is_applied_by_itself(site: Site) -> None:
    """By whichever worker sees it, once."""
    digest = made(site)
    whole_evidence(site)
    soaked(site, digest)
    frozen = Freeze("all", BERLIN, datetime(2020, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC))
    change(site, policies=policies(freezes=(frozen,)))
    asked = requested(site, digest, "canary")
    post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.APPROVER)
    change(site, policies=DEFAULTS)
    service = site.app.state.service

    async def workers() -> None:
        await asyncio.gather(*(look(service.world, service.promotion) for _ in range(5)))

    site.run(workers())
    assert shown(site, asked)["state"] == "applied"
    assert [what for _, what, _ in audited(site)].count("promotion.apply") == 1
    assert len(site.get(f"/v1/channels/canary{HERE}").json()["history"]) == 1


def test_a_worker_that_died_after_an_approval_is_followed_by_another(site: Site) -> None:
    """The approval is kept; nothing but a look is needed."""
    digest = made(site)
    whole_evidence(site)
    soaked(site, digest)
    asked = requested(site, digest, "canary")
    promotions = site.store.promotions
    seen = site.run(promotions.get(asked["id"]))
    approved = replace(seen, approvals=(Approval("eve", datetime.now(UTC)),))
    assert site.run(promotions.keep(seen, approved, None))
    assert shown(site, asked)["state"] == "awaiting_approval"
    look_once(site)
    assert shown(site, asked)["state"] == "applied"


def test_two_persons_do_without_a_gate(site: Site) -> None:
    digest = made(site)
    whole_evidence(site)
    asked = requested(site, digest, "canary")
    where, wish = f"/v1/promotions/{asked['id']}:waive", {"gate": "soak", "reason": "the lab is down", "hours": 2}
    one = post(site, where, wish, Role.OPERATOR).json()
    assert (one["state"], one["waivers"][0]["confirmed_by"]) == ("awaiting_soak", None)
    assert post(site, where, wish, Role.OPERATOR).json()["state"] == "awaiting_soak"
    two = post(site, where, wish, Role.APPROVER).json()
    assert (two["state"], gates(two)["soak"]) == ("awaiting_approval", "waived")
    assert two["history"][-2]["what"] == "approver confirms a waiver of soak"
    never = post(site, where, {**wish, "gate": "stops"}, Role.ADMIN)
    assert (never.status_code, "nobody waives stops" in never.json()["detail"]) == (409, True)
    assert [what for _, what, _ in audited(site)].count("promotion.waive") == 2


def test_an_open_stop_rule_holds_what_was_approved(site: Site) -> None:
    class Stopped:
        async def stops(self, release: ReleaseDigest) -> list[str]:
            return [f"{release[:9]}: two units failed"]

    digest = made(site)
    whole_evidence(site)
    soaked(site, digest)
    asked = requested(site, digest, "canary")
    change(site, stops=Stopped())
    refused = post(site, f"/v1/promotions/{asked['id']}:approve", role=Role.APPROVER)
    assert refused.json()["state"] == "checking", "the approval stands, and the stop rule holds it"
    gate = next(one for one in refused.json()["gates"] if one["name"] == "stops")
    assert "two units failed" in gate["seen"]


def test_rejected_and_cancelled_is_the_end(site: Site) -> None:
    asked = requested(site, made(site), "canary")
    where = f"/v1/promotions/{asked['id']}"
    no = post(site, f"{where}:reject", {"reason": "not this week"}, Role.APPROVER)
    assert (no.json()["state"], no.json()["why"]) == ("rejected", "rejected by approver: not this week")
    assert post(site, f"{where}:cancel", role=Role.OPERATOR).status_code == 409
    other = requested(site, made(site), "canary")
    assert other["id"] != asked["id"]
    assert post(site, f"/v1/promotions/{other['id']}:cancel").json()["state"] == "cancelled"


def test_a_request_that_is_sent_twice_is_one(site: Site) -> None:
    body = {"channel": "canary", "release": made(site), "reason": "spring"}
    bare = site.request("POST", "/v1/promotions", Role.OPERATOR, json=body)
    assert bare.status_code == 400
    key = {"Idempotency-Key": "k1"}
    one, two = (post(site, "/v1/promotions", body, Role.OPERATOR, headers=key) for _ in range(2))
    assert (one.status_code, two.status_code, one.json()["id"]) == (201, 201, two.json()["id"])


def test_lists_are_pages(site: Site) -> None:
    digests = [made(site, firmware_downgrade=value) for value in (True, False)]
    ids = [requested(site, digest)["id"] for digest in digests]
    one = site.get("/v1/promotions?limit=1").json()
    two = site.get(f"/v1/promotions?limit=1&cursor={one['next']}").json()
    assert [page["promotions"][0]["id"] for page in (one, two)] == ids[::-1]
    assert two["next"] is None
    assert site.get("/v1/promotions?state=rejected").json()["promotions"] == []
    assert site.get("/v1/promotions?cursor=bm90aGluZw").status_code == 422


def test_firmware_that_goes_nowhere_is_an_edge_that_is_refused(site: Site) -> None:
    """The pool runs what the new release does not follow."""
    old = made(site)
    runs(site, old)
    requested(site, old)
    bound = made(site, from_releases=[made(site, firmware_downgrade=False)])
    asked = requested(site, bound)
    gate = next(one for one in asked["gates"] if one["name"] == "compatibility")
    assert (asked["state"], gate["state"]) == ("checking", "failed")
    assert "promote one of those first" in gate["seen"]
    follows = made(site, from_releases=[old])
    assert requested(site, follows)["state"] == "applied"
