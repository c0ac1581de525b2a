"""Blue-green on a rack of emulated servers and a whole daemon."""

import urllib.error
from pathlib import Path
from typing import Any

import pytest

from images.build import build_image
from images.store import ArtefactStore
from provisioner.bench.firmware_campaign import HARDWARE
from tests.line.site import Site
from tests.rollouts.rack import GREEN, begin, boots, planned, rack, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

NODES = 10


@pytest.mark.xdist_group("rollouts")
def test_a_good_release_goes_through_with_one_boot_of_each_node_and_the_floor_never_broken(tmp_path: Path) -> None:
    with rack(tmp_path, NODES) as running:
        before = boots(running)
        planned = begin(running, "good")
        floors: list[dict[str, int]] = []

        def done(seen: dict[str, Any]) -> bool:
            floors.append(seen["floors"][HARDWARE])
            return bool(seen["state"] == "complete")

        seen = until(running, "good", done)
        after = running.nodes()
        assert {one["release"] for one in after.values()} == {planned["release"]}
        assert {one["state"] for one in after.values()} == {"ready"}
        assert all(floor["in_service"] >= floor["floor"] for floor in floors if floor["in_service"] is not None)
        assert {name: count - before[name] for name, count in boots(running).items()} == dict.fromkeys(before, 1)
        assert [wave["state"] for wave in seen["waves"]] == ["closed"] * len(seen["waves"])


@pytest.mark.xdist_group("rollouts-too")
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_fifteen_percent_of_bad_nodes_are_stopped_in_the_canary_and_all_come_back_though_the_daemon_is_killed(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    """Two of the three bad nodes are in a canary of six; no other node ever boots green, and none boots it twice."""
    url = request.getfixturevalue("postgres_database") if database == "postgresql" else None
    with rack(tmp_path, 20, database_url=url) as running:
        blue = {name: one["release"] for name, one in running.nodes().items()}
        before = boots(running)
        order = {"tries": 1, "canaries": 6, "return_scope": "all"}
        canary, *others = planned(running, "bad", **order)
        break_green(running, tmp_path, [*canary[:2], others[0][0]])
        begin(running, "bad", **order)
        until(running, "bad", lambda seen: any(one["state"] == "rebooting" for one in seen["in_hand"]))
        running.kill(running.daemons[-1])
        running.start()
        floors: list[dict[str, int]] = []

        def closed(seen: dict[str, Any]) -> bool:
            floors.append(seen["floors"][HARDWARE])
            return seen["closed_at"] is not None

        seen = until(running, "bad", closed)
        assert seen["state"] == "returned", "\n".join(line["what"] for line in seen["history"])
        assert seen["rejected"] == [HARDWARE]
        assert all(floor["in_service"] >= floor["floor"] for floor in floors)
        assert {name: one["release"] for name, one in running.nodes().items()} == blue
        assert {one["state"] for one in running.nodes().values()} == {"ready"}
        booted = {name: count - before[name] for name, count in boots(running).items() if count > before[name]}
        assert set(booted) <= set(canary)
        assert max(booted.values()) <= 2, "once to green and once back, however often the daemon is killed"
        with pytest.raises(urllib.error.HTTPError, match="422"):
            running.ask("/v1/rollouts", "POST", {"name": "again", "pool": "pool", "release": GREEN})


@pytest.mark.xdist_group("rollouts")
def test_two_workers_and_a_person_who_pauses_change_nothing_twice(tmp_path: Path, postgres_database: str) -> None:
    with rack(tmp_path, 4, database_url=postgres_database, pool={"floor": "50%"}) as running:
        running.start(running.second_worker())
        before = boots(running)
        begin(running, "spring", control_required=False)
        running.ask("/v1/rollouts/spring:pause", "POST")
        paused = until(running, "spring", lambda seen: not seen["in_hand"])
        assert (paused["state"], paused["paused_by"]) == ("paused", "person")
        assert paused["next"] == "firstlight rollout resume spring"
        running.ask("/v1/rollouts/spring:resume", "POST")
        until(running, "spring", lambda seen: seen["state"] == "complete")
        assert {name: count - before[name] for name, count in boots(running).items()} == dict.fromkeys(before, 1)


@pytest.mark.xdist_group("rollouts-too")
def test_what_works_on_neither_release_waits_for_a_person_and_is_given_back_when_it_is_ready(tmp_path: Path) -> None:
    """Its hardware broke in the rollout: the node is held with an instruction, and nobody else may take it."""
    with rack(tmp_path, 4, pool={"floor": "50%"}) as running:
        ((broken,), *_) = planned(running, "unlucky")
        running.fleet.set_fault(broken, "burn-in-check-fails")
        begin(running, "unlucky", tries=1)
        asked = until(running, "unlucky", lambda seen: seen["paused_by"] == "gate")
        assert "--wave 0 --verdict pass|fail" in asked["next"], "one node of one says nothing: a person is asked"
        decision = {"wave": 0, "verdict": "fail", "why": "its DIMM is dead, look at that first"}
        running.ask("/v1/rollouts/unlucky:decide", "POST", decision)
        seen = until(running, "unlucky", lambda seen: seen["closed_at"] is not None)
        assert seen["state"] == "needs_human", "\n".join(line["what"] for line in seen["history"])
        running.until(lambda nodes: nodes[broken]["hold"] is not None)
        assert {one["state"] for name, one in running.nodes().items() if name != broken} == {"ready"}
        running.fleet.clear_fault(broken, "burn-in-check-fails")
        with pytest.raises(urllib.error.HTTPError, match="409"):
            running.ask(f"/v1/nodes/{broken}/reimage", "POST", {"release": GREEN})
        running.ask(f"/v1/nodes/{broken}/release", "POST")
        running.until(lambda nodes: nodes[broken]["state"] == "ready")
        until(running, "unlucky", lambda _: handed_over(running, broken))


def handed_over(running: Site, node: str) -> bool:
    """A node that a rollout has is handed over to nobody."""
    try:
        running.ask(f"/v1/nodes/{node}/hand-over", "POST")
    except urllib.error.HTTPError:
        return False
    return True


def break_green(running: Site, folder: Path, nodes: list[str]) -> None:
    """These nodes fail their burn-in on the green image, and on that alone."""
    image = build_image("green", "x86_64", ArtefactStore(folder / "elsewhere")).digest
    for node in nodes:
        running.fleet.set_fault(node, "burn-in-check-fails", {"image": image})


@pytest.mark.xdist_group("rollouts")
def test_a_promotion_starts_its_rollout_by_itself_where_the_pool_follows_the_channel(tmp_path: Path) -> None:
    """From the request to the last node nobody does anything; the same pointer never starts a second one."""
    follow = {"follow": {"channel": "dev", "hold": "1s"}, "floor": "50%"}
    with rack(tmp_path, 4, pool=follow) as running:
        before = boots(running)
        made = running.ask("/v1/releases", "POST", {"profile": GREEN})
        body = {"channel": "dev", "release": made["digest"], "reason": "the new driver"}
        running.ask("/v1/promotions", "POST", body)
        seen = until(running, "pool-dev-1", lambda seen: seen["state"] == "complete")
        assert (seen["who"], seen["approved_by"]) == ("policy of pool pool",) * 2
        assert {one["release"] for one in running.nodes().values()} == {made["digest"]}
        assert {name: count - before[name] for name, count in boots(running).items()} == dict.fromkeys(before, 1)
        (pool,) = running.ask("/v1/pools")["pools"]
        assert (pool["behind"], pool["rollout"], pool["wanted"]) == (0, None, made["digest"])
        assert [one["name"] for one in running.ask("/v1/rollouts")["rollouts"]] == ["pool-dev-1"]
