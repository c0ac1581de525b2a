"""Slurm's JSON in its versions: 22.05 writes words and numbers, 23.02 and newer lists and objects."""

from datetime import UTC, datetime
from typing import Any

import pytest

from provisioner.models.scheduling import Standing
from provisioner.schedulers.hostlist import expand_hostlist
from provisioner.schedulers.slurm_reading import read_jobs, read_nodes, view_of

OURS = "Firstlight: rollout=green-7 epoch=3"


def node(**changes: Any) -> dict[str, Any]:
    return {"name": "n0", "state": ["IDLE"], "reason": "", "features": ["h100"]} | changes


def standing(**changes: Any) -> Standing:
    return view_of(read_nodes({"nodes": [node(**changes)]})["n0"], ()).standing


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, Standing.IN_SERVICE),
        ({"state": ["MIXED"]}, Standing.IN_SERVICE),
        ({"state": "idle", "state_flags": ["DRAIN"], "reason": OURS}, Standing.DRAINED),
        ({"state": ["IDLE", "DRAIN"], "reason": OURS}, Standing.DRAINED),
        ({"state": ["DOWN"], "reason": OURS}, Standing.DRAINED),
        ({"state": ["IDLE", "DRAIN"], "reason": "fan"}, Standing.CORDONED),
        ({"state": ["IDLE", "DRAIN"], "reason": ""}, Standing.CORDONED),
        ({"state": ["DOWN"], "reason": "burnt", "reason_set_by_user": "ann"}, Standing.CORDONED),
        ({"state": ["IDLE", "FAIL"], "reason": "x"}, Standing.CORDONED),
        ({"state": ["ALLOCATED", "DRAIN"], "reason": OURS}, Standing.DRAINING),
        ({"state": ["IDLE", "DRAIN", "COMPLETING"], "reason": OURS}, Standing.DRAINING),
        ({"state": ["DOWN", "DRAIN", "REBOOT_ISSUED"], "reason": OURS + " : reboot issued"}, Standing.DRAINING),
        ({"state": ["IDLE", "REBOOT_REQUESTED"], "reason": ""}, Standing.CORDONED),
        ({"state": ["DOWN"], "reason": "Not responding"}, Standing.UNKNOWN),
        ({"state": ["DOWN"], "reason": ""}, Standing.UNKNOWN),
        ({"state": ["IDLE", "NOT_RESPONDING"]}, Standing.UNKNOWN),
        ({"state": ["UNKNOWN"]}, Standing.UNKNOWN),
    ],
)
def test_a_state_says_no_more_than_it_does(changes: dict[str, Any], wanted: Standing) -> None:
    """A job that PrivateData hides from us still makes a node busy."""
    assert standing(**changes) is wanted


@pytest.mark.parametrize("reason", ["firstlight: rollout=a epoch=1", "Firstlight: rollout=a b epoch=1", "Firstlight"])
def test_what_only_looks_like_ours_is_somebodys(reason: str) -> None:
    assert standing(state=["IDLE", "DRAIN"], reason=reason) is Standing.CORDONED


def job(**changes: Any) -> dict[str, Any]:
    return {"job_id": 7, "job_state": ["RUNNING"], "nodes": "n[0-2]"} | changes


@pytest.mark.parametrize(
    ("state", "holds"),
    [
        ("RUNNING", True),
        ("COMPLETING", True),
        (["CANCELLED", "COMPLETING"], True),
        ("SUSPENDED", True),
        (["A_STATE_OF_THE_FUTURE"], True),
        ("PENDING", False),
        (["COMPLETED"], False),
        (["NODE_FAIL"], False),
        (["PENDING", "REQUEUED"], False),
    ],
)
def test_a_job_holds_its_nodes_unless_its_state_says_that_it_does_not(state: Any, holds: bool) -> None:
    assert bool(read_jobs({"jobs": [job(job_state=state)]})) is holds


def test_numbers_of_both_kinds_are_read() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    number = int(at.timestamp())
    (old,) = read_jobs({"jobs": [job(time_limit=60, end_time=number)]})
    wrapped = {"set": True, "infinite": False}
    (new,) = read_jobs({"jobs": [job(time_limit=wrapped | {"number": 60}, end_time=wrapped | {"number": number})]})
    endless = {"set": False, "infinite": True, "number": 0}
    (none,) = read_jobs({"jobs": [job(time_limit=endless, end_time=wrapped | {"number": number})]})
    assert (old.ends_at, new.ends_at, none.ends_at) == (at, at, None)
    assert old.nodes == {"n0", "n1", "n2"}


def test_a_signal_of_an_earlier_run_does_not_count() -> None:
    """A job that was put back into the queue keeps its comment; in its next run it is told anew."""
    (again,) = read_jobs({"jobs": [job(start_time=2000, admin_comment="x; firstlight-signalled=1000")]})
    (told,) = read_jobs({"jobs": [job(start_time=2000, admin_comment="x; firstlight-signalled=2001")]})
    assert (again.signalled_at, told.signalled_at) == (None, datetime.fromtimestamp(2001, UTC))
    assert again.comment_with_signal(datetime.fromtimestamp(3000, UTC)) == "x; firstlight-signalled=3000"


@pytest.mark.parametrize("document", [{"jobs": [], "errors": [{"error": "x"}]}, {}, {"jobs": [{}]}, {"jobs": None}])
def test_an_empty_list_beside_an_error_is_no_list(document: dict[str, Any]) -> None:
    """Without slurmctld, squeue of 22.05 ends with 0, an error, and no jobs."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_jobs(document)


@pytest.mark.parametrize("text", ["n[1", "n[2-1]", "n[a]", "n]", "n[1-999999999]", ",", "n[]", "a[1-600]b[1-600]"])
def test_what_is_no_host_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|number|backwards"):
        expand_hostlist(text)


def test_nothing_is_no_host() -> None:
    assert expand_hostlist("") == ()
