"""What may be done to a node, whichever scheduler it has."""

from datetime import UTC, datetime, timedelta

import pytest

from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import (
    OWNER,
    CheckpointThenRequeue,
    Cordon,
    Force,
    Job,
    OurReason,
    SchedulerView,
    WaitForJobs,
    release_label,
)
from provisioner.schedulers import rules
from provisioner.schedulers.rules import Due

NODE = NodeName("n0")
OURS = OurReason("green-7", 3, "to a1a1a1")
CORDONED = (Cordon(OWNER, OURS.text),)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "view",
    [
        SchedulerView(cordons=CORDONED, jobs=(Job("7"),)),
        SchedulerView(cordons=CORDONED, busy=True),
        SchedulerView(cordons=CORDONED, unknown="no such node"),
        SchedulerView(cordons=(*CORDONED, Cordon("ann", "fan"))),
        SchedulerView(),
    ],
)
def test_no_reboot_without_our_cordon_alone_and_an_empty_node(view: SchedulerView) -> None:
    """Also where a job runs that we may not see (PrivateData)."""
    with pytest.raises(SchedulerError, match="n0"):
        rules.must_be_drained("slurm", NODE, view, OURS)
    rules.must_be_drained("slurm", NODE, SchedulerView(cordons=CORDONED), OURS)


@pytest.mark.parametrize(
    ("told_before", "wanted"),
    [(None, Due.SIGNAL), (0, Due.NOTHING), (599, Due.NOTHING), (600, Due.REQUEUE)],
)
def test_a_job_has_its_grace_to_the_second(told_before: int | None, wanted: Due) -> None:
    policy = CheckpointThenRequeue(grace=timedelta(seconds=600))
    told = None if told_before is None else NOW - timedelta(seconds=told_before)
    assert rules.due(policy, told, NOW) is wanted
    assert rules.due(WaitForJobs(), told, NOW) is Due.NOTHING
    assert rules.due(Force("ann"), told, NOW) is Due.END


@pytest.mark.parametrize("reason", [OURS, OurReason("a", 0), OurReason("r", 12, "with; marks: and\nlines")])
def test_our_reason_is_read_as_it_was_written(reason: OurReason) -> None:
    assert OurReason.parse(reason.text) == reason
    assert OurReason.parse(f" {reason.text} : reboot issued") is not None


def test_a_release_fits_where_schedulers_take_it() -> None:
    label = release_label(ReleaseDigest("sha256:" + "0f" * 32))
    assert label == "sha256-" + "0f" * 20
    assert SchedulerView(labels=frozenset({label, "h100"})).release_labels == {label}
