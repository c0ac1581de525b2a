"""Rollouts over HTTP: what is asked for wrongly changes nothing and says why; verbs are done once."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests

from profiles.release import Release
from provisioner.capabilities.cipher import Cipher
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.role import Role
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.unit import UnitName
from tests.api.site import Site, quick_release, running_site

NODES = 8
CLASS = "hgx-h100-8gpu"


@pytest.fixture
def site(tmp_path: Path, key_cipher: Cipher) -> Iterator[Site]:
    """Eight nodes that are ready with one release; another one is known."""
    with running_site(tmp_path, key_cipher, NODES) as running:
        yield running


@pytest.fixture
def green(site: Site) -> Release:
    """The release to go to."""
    return blue_and_green(site)[1]


def blue_and_green(site: Site) -> tuple[Release, Release]:
    """Every node is ready with the first; the second is known."""
    blue = quick_release(site.files.image, heartbeat=timedelta(seconds=1))
    bios = blue.bios.model_copy(update={"attributes": {**blue.bios.attributes, "Green": "Enabled"}})
    green = blue.model_copy(update={"name": "green", "bios": bios})
    for release in (blue, green):
        site.run(site.store.documents.put_release(release))
    for node in site.run(site.store.nodes.all()):
        site.run(site.store.nodes.assign(node.name, CLASS, ReleaseDigest(blue.digest)))
        site.run(site.store.nodes.observe_image(node.name, blue.image_digest, node.state_since))
        site.move(State.READY, node.name)
    return blue, green


def order(green: Release, **more: object) -> dict[str, object]:
    return {"name": "spring", "pool": "pool", "release": green.digest, "floor": "70%", **more}


def post(site: Site, path: str, body: object = None, role: Role = Role.OPERATOR, key: str = "") -> requests.Response:
    headers = {"Idempotency-Key": key or str(uuid.uuid4())}
    return site.request("POST", path, role, headers=headers, json=body)


def lines(site: Site) -> list[str]:
    return [line["what"] for line in site.get("/v1/audit").json()["lines"] if line["what"].startswith("rollout.")]


def test_a_plan_says_what_would_happen_and_keeps_nothing(site: Site, green: Release) -> None:
    plan = post(site, "/v1/rollouts:plan", order(green), Role.TECHNICIAN).json()
    assert plan["nodes"] == NODES
    assert plan["may_be_out"] == {CLASS: 2}
    assert [len(wave["units"]) for wave in plan["waves"]] == [1, 1, 6]
    assert plan["waves"][0]["sees_defect_from"] > 0.9, "one node sees next to nothing, and says so"
    assert site.get("/v1/rollouts").json() == {"rollouts": [], "next": None}


def test_each_verb_writes_its_line_and_is_done_once(site: Site, green: Release) -> None:
    made = post(site, "/v1/rollouts", order(green))
    assert (made.status_code, made.headers["Location"]) == (201, "/v1/rollouts/spring")
    assert made.json()["next"].endswith("firstlight rollout approve spring")
    assert post(site, "/v1/rollouts", order(green)).status_code == 200
    for verb, state in (("approve", "approved"), ("start", "running"), ("pause", "paused"), ("resume", "running")):
        for _ in range(2):
            answer = post(site, f"/v1/rollouts/spring:{verb}", {} if verb == "approve" else None)
            assert (answer.status_code, answer.json()["state"]) == (200, state), answer.text
    assert post(site, "/v1/rollouts/spring:abort").json()["state"] == "aborted"
    assert lines(site) == [f"rollout.{verb}" for verb in ("create", "approve", "start", "pause", "resume", "abort")]
    history = [line["what"] for line in site.get("/v1/rollouts/spring").json()["history"]]
    assert history[:3] == ["planned by operator", "approve by operator", "start by operator"]


@pytest.mark.parametrize(
    ("change", "pointer", "text"),
    [
        ({"floor": "100%"}, "#/floor/percent", "lower the floor"),
        ({"floor": 8}, "#/floor/count", "lower the floor"),
        ({"floor": "120%"}, "#/floor", "is no floor"),
        ({"canaries": NODES}, "#/control_required", "to compare with"),
        ({"colour": "green"}, "#/colour", "Extra inputs"),
        ({"caps": {"rack": 0}}, "#/caps/rack", "greater than or equal to 1"),
        ({"metrics": ["smell"]}, "#/metrics/0", "boot_seconds"),
        ({"name": "a b"}, "#/name", "pattern"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field_and_changes_nothing(
    site: Site, green: Release, change: dict[str, object], pointer: str, text: str
) -> None:
    answer = post(site, "/v1/rollouts", order(green, **change))
    assert answer.status_code == 422
    (error,) = [one for one in answer.json()["errors"] if one["pointer"] == pointer]
    assert text in error["detail"]
    assert site.get("/v1/rollouts").json()["rollouts"] == []
    assert lines(site) == []


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        ({"pool": "else"}, 404, "no pool is called else; there are pool"),
        ({"release": "sha256:" + "0" * 64}, 404, "sha256:000"),
        ({"release": "gb200-2026-1"}, 409, "is for gb200-compute-tray, and pool pool is hgx-h100-8gpu"),
    ],
)
def test_an_unknown_pool_and_a_release_for_other_hardware_are_refused(
    site: Site, green: Release, change: dict[str, object], status: int, text: str
) -> None:
    answer = post(site, "/v1/rollouts", order(green, **change))
    assert (answer.status_code, text in answer.json()["detail"]) == (status, True), answer.text


def test_another_order_under_a_name_that_is_taken_is_refused(site: Site, green: Release) -> None:
    post(site, "/v1/rollouts", order(green))
    answer = post(site, "/v1/rollouts", order(green, floor="60%"))
    assert answer.status_code == 409
    assert "with other floor" in answer.json()["detail"]


def test_a_key_is_needed_and_counts_for_one_body(site: Site, green: Release) -> None:
    assert site.request("POST", "/v1/rollouts", Role.OPERATOR, json=order(green)).status_code == 400
    assert post(site, "/v1/rollouts", order(green), key="k1").status_code == 201
    assert post(site, "/v1/rollouts", order(green), key="k1").status_code == 201, "the kept answer"
    other = post(site, "/v1/rollouts", order(green, name="other"), key="k1")
    assert (other.status_code, other.json()["type"]) == (422, "urn:firstlight:problem:idempotency-key-reused")


def test_what_needs_approval_does_not_start_without(site: Site, green: Release) -> None:
    post(site, "/v1/rollouts", order(green))
    answer = post(site, "/v1/rollouts/spring:start")
    assert answer.status_code == 409
    assert "approve it first" in answer.json()["detail"]


def test_stopping_is_easy_and_starting_is_not(site: Site, green: Release) -> None:
    post(site, "/v1/rollouts", order(green))
    post(site, "/v1/rollouts/spring:approve", {})
    assert post(site, "/v1/rollouts/spring:start", role=Role.TECHNICIAN).status_code == 403
    post(site, "/v1/rollouts/spring:start")
    assert post(site, "/v1/rollouts/spring:pause", role=Role.TECHNICIAN).status_code == 200
    assert post(site, "/v1/rollouts/spring:resume", role=Role.TECHNICIAN).status_code == 403
    assert post(site, "/v1/rollouts/spring:abort", role=Role.TECHNICIAN).status_code == 200


def test_units_come_page_by_page_in_the_order_of_the_plan(site: Site, green: Release) -> None:
    waves = post(site, "/v1/rollouts:plan", order(green)).json()["waves"]
    post(site, "/v1/rollouts", order(green))
    found, cursor = [], ""
    while True:
        page = site.get(f"/v1/rollouts/spring/units?limit=3{cursor}").json()
        found += [unit["unit"] for unit in page["units"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert found == [name for wave in waves for name in wave["units"]]
    assert site.get("/v1/rollouts/spring/units?cursor=x").status_code == 422


def test_a_node_in_hand_of_a_rollout_is_not_installed_anew(site: Site, green: Release) -> None:
    name = NodeName("r01-u02")
    intent = Intent("spring", UnitName(name), Action.RESERVE, 1, 1, 1, (name,), ReleaseDigest(green.digest))
    site.run(site.store.turns.reserve(name, intent, State.READY, None))
    for path, body in (("reimage", {"release": "hgx-h100-2025-1"}), ("hand-over", None)):
        answer = post(site, f"/v1/nodes/{name}/{path}", body)
        assert answer.status_code == 409
        assert "in hand of rollout spring" in answer.json()["detail"]


@pytest.mark.usefixtures("green")
def test_nodes_are_handed_over_and_taken_back(site: Site) -> None:
    for path, state in (("hand-over", "in_production"), ("take-back", "maintenance"), ("hand-over", "in_production")):
        for _ in range(2):
            answer = post(site, f"/v1/nodes/r01-u03/{path}")
            assert (answer.status_code, answer.json()["state"]) == (200, state)
    site.move(State.BOOTING, NodeName("r01-u04"))
    assert "r01-u04 is booting" in post(site, "/v1/nodes/r01-u04/hand-over").json()["detail"]
