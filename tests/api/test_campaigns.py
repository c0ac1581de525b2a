"""Campaigns and drift over HTTP."""

from datetime import UTC, datetime

import pytest

from provisioner.models.drift import DriftFinding, FindingKind, FirmwareReading
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.role import Role
from provisioner.services.campaigning import go_on
from tests.api.site import N1, Site

HARDWARE, RELEASE = "hgx-h100-8gpu", "hgx-h100-2025-1"
N2 = NodeName("r01-u02")
ORDER = {"name": "spring", "release": RELEASE}


def pool(site: Site) -> None:
    """Both nodes ready with an older release."""
    for name in (N1, N2):
        site.run(site.store.nodes.assign(name, HARDWARE, ReleaseDigest("sha256:older")))
        site.move(State.READY, name)


def steps(site: Site, name: str = "spring") -> None:
    """As the loop does."""
    while site.run(go_on(site.service.world, site.store.campaigns, name)):
        pass


def test_a_campaign_from_its_order_to_its_end(site: Site) -> None:
    pool(site)
    begun = site.post("/v1/campaigns", json=ORDER)
    assert begun.status_code == 200, begun.text
    assert begun.json()["counts"] == {"waiting": 2, "moving": 0, "done": 0, "failed": 0, "left_alone": 0}
    assert (begun.json()["hardware_class"], begun.json()["who"]) == (HARDWARE, "admin")
    steps(site)
    assert (site.node(N1).state, site.node(N2).state) == (State.INVENTORIED, State.READY)
    told = site.get(f"/v1/nodes/{N1}/history").json()["events"][-1]["reason"]
    assert told.startswith(f"campaign spring gives it release {RELEASE} (sha256:")
    site.move(State.READY, N1)
    steps(site)
    assert site.node(N2).state is State.INVENTORIED
    assert site.get("/v1/campaigns/spring").json()["state"] == "running"
    site.move(State.READY, N2)
    steps(site)
    shown = site.get("/v1/campaigns/spring").json()
    assert (shown["state"], shown["counts"]["done"]) == ("done", 2)
    assert [one["what"] for one in shown["history"]] == ["started by admin", "ended"]
    assert [(one["node"], one["why"]) for one in shown["members"]] == [
        (N1, "is ready with it"),
        (N2, "is ready with it"),
    ]
    told = site.get(f"/v1/nodes/{N1}/history").json()["events"][-1]["reason"]
    assert told == "campaign spring: is ready with it"


def test_the_same_order_twice_is_one_campaign(site: Site) -> None:
    pool(site)
    first = site.post("/v1/campaigns", json=ORDER).json()
    assert site.post("/v1/campaigns", json=ORDER).json() == first
    other = site.post("/v1/campaigns", json={**ORDER, "per_rack": 9, "nodes": [N1]})
    assert other.status_code == 409
    told = "there is a campaign spring already, with other nodes and limits: choose another name"
    assert other.json()["detail"] == told


def test_two_campaigns_never_have_the_same_node(site: Site) -> None:
    pool(site)
    assert site.post("/v1/campaigns", json={**ORDER, "nodes": [N1]}).status_code == 200
    assert site.post("/v1/campaigns", json={**ORDER, "name": "other", "nodes": [N2]}).status_code == 200
    third = site.post("/v1/campaigns", json={**ORDER, "name": "third"})
    assert third.status_code == 409
    assert third.json()["detail"] == (f"{N1} is in campaign spring, which has not ended: wait for its end, or abort it")
    assert site.get("/v1/campaigns/third").status_code == 404


@pytest.mark.parametrize(
    ("order", "status", "told"),
    [
        ({"release": "hgx-h100-2025-9"}, 404, "there is no release hgx-h100-2025-9; did you mean"),
        ({"nodes": ["r09-u09"]}, 404, "no node is called r09-u09"),
        ({"nodes": [N2]}, 409, f"{RELEASE} is for {HARDWARE}, and {N2} is not known yet"),
        ({"racks": ["r09"]}, 409, f"rack r09 has no node of {HARDWARE}"),
        ({"hardware_class": "gb200-compute-tray"}, 409, f"{RELEASE} is for {HARDWARE}, not for gb200-compute-tray"),
        ({"canaries": -1}, 422, "#/canaries: "),
        ({"name": "../x"}, 422, "#/name: "),
        ({"sudo": True}, 422, "#/sudo: "),
    ],
)
def test_an_order_that_cannot_be_says_why(site: Site, order: dict[str, object], status: int, told: str) -> None:
    site.run(site.store.nodes.assign(N1, HARDWARE, ReleaseDigest("sha256:older")))
    answer = site.post("/v1/campaigns", json={**ORDER, **order})
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["detail"].startswith(told)


def test_anyone_may_pause_and_operators_go_on_or_end_it(site: Site) -> None:
    pool(site)
    site.post("/v1/campaigns", json=ORDER)
    paused = site.post("/v1/campaigns/spring/pause", role=Role.TECHNICIAN).json()
    assert (paused["state"], paused["why"]) == ("paused", "paused by technician")
    steps(site)
    assert site.node(N1).state is State.READY
    assert site.post("/v1/campaigns/spring/resume", role=Role.TECHNICIAN).status_code == 403
    assert site.post("/v1/campaigns/spring/resume", role=Role.OPERATOR).json()["state"] == "running"
    assert site.post("/v1/campaigns/spring/abort", role=Role.OPERATOR).json()["state"] == "aborted"
    steps(site)
    ended = site.get("/v1/campaigns/spring").json()
    assert (ended["counts"]["left_alone"], site.node(N1).state) == (2, State.READY)
    assert [one["what"] for one in ended["history"]] == [
        "started by admin",
        "paused by technician",
        "resumed by operator",
        "aborted by operator",
        "ended: aborted by operator",
    ]
    assert site.post("/v1/campaigns/spring/resume").status_code == 409


def test_a_release_that_means_something_else_by_now_is_given_to_nobody(site: Site) -> None:
    """Profiles were changed, or the image was built anew, since the campaign was started."""
    pool(site)
    site.post("/v1/campaigns", json=ORDER)
    with site.store.database.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE campaigns SET digest = 'sha256:of-then'")
    steps(site)
    shown = site.get("/v1/campaigns/spring").json()
    assert shown["state"] == "stopped"
    assert "start another campaign" in shown["why"]
    assert site.node(N1).state is State.READY


def test_pages_newest_first(site: Site) -> None:
    pool(site)
    for number in range(5):
        site.post("/v1/campaigns", json={**ORDER, "name": f"c{number}"})
        site.post(f"/v1/campaigns/c{number}/abort")
        steps(site, f"c{number}")
    seen, cursor = [], ""
    while True:
        page = site.get(f"/v1/campaigns?limit=2{cursor}").json()
        seen += [one["name"] for one in page["campaigns"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == ["c4", "c3", "c2", "c1", "c0"]
    assert site.get("/v1/campaigns?state=running").json() == {"campaigns": [], "next": None}
    assert site.get("/v1/campaigns?cursor=abc").status_code == 422
    assert 'firstlight_campaigns{state="aborted"} 5.0' in site.get("/metrics").text


def test_drift(site: Site) -> None:
    now = datetime.now(UTC)
    found = DriftFinding(FindingKind.OFF_BUNDLE, N1, "bios", "2.5", {"2.4": (N1,)})
    site.run(site.store.drift.read(FirmwareReading(N1, 1, now, {"bios": (("BIOS", "2.4"),)})))
    site.run(site.store.drift.stand([found], now))
    told = site.get("/v1/firmware/drift").json()
    assert told["nodes_read"] == 1
    assert told["findings"][0]["told"] == f"{N1} is off its bundle: bios runs 2.4, and should run 2.5"
    assert 'firstlight_firmware_drift{kind="off_bundle"} 1.0' in site.get("/metrics").text
    history = site.get(f"/v1/nodes/{N1}/history").json()["events"]
    assert history[-1]["reason"] == f"firmware drift: {found.told}"
