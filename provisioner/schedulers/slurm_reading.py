"""Slurm's JSON, of any version from 22.05 on, from its commands or from slurmrestd: what of it concerns us. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from provisioner.models.scheduling import OWNER, Cordon, Job, OurReason, SchedulerView
from provisioner.schedulers.hostlist import expand_hostlist

_NOT_THERE = {"PENDING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"} | {
    "DEADLINE",
    "OUT_OF_MEMORY",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "SPECIAL_EXIT",
    "REVOKED",
    "RESV_DEL_HOLD",
    "LAUNCH_FAILED",
    "RECONFIG_FAIL",
}
_BUSY = {"ALLOCATED", "MIXED", "COMPLETING", "BLOCKED"}
_OUT = {"DRAIN", "FAIL"}
_NO_WORD = {"NOT_RESPONDING", "UNKNOWN", "FUTURE", "INVALID_REG"}
_REBOOT = {"REBOOT_REQUESTED", "REBOOT_ISSUED"}
_BY_SLURM = ("Not responding", "Node unexpectedly rebooted")
_SIGNALLED = re.compile(r"firstlight-signalled=(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """One node. `states`: base state and flags, in capitals."""

    name: str
    states: frozenset[str]
    reason: str
    reason_by: str
    features: tuple[str, ...]
    resumes_after_reboot: bool

    @property
    def rebooting(self) -> bool:
        """Slurm itself reboots it, or will."""
        return bool(self.states & _REBOOT)

    @property
    def reboot_can_be_cancelled(self) -> bool:
        """Not any more once it is issued; no later order changes the state that it then has (seen in 22.05)."""
        return "REBOOT_REQUESTED" in self.states and "REBOOT_ISSUED" not in self.states


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """One job that has nodes. `signalled_at`: when we told it to save its work."""

    id: str
    nodes: frozenset[str]
    started_at: datetime | None
    ends_at: datetime | None
    requeue: bool
    admin_comment: str

    @property
    def signalled_at(self) -> datetime | None:
        """None when we have not, in this run of it: a job that is put back into the queue keeps its comment."""
        found = _SIGNALLED.search(self.admin_comment)
        at = datetime.fromtimestamp(int(found[1]), UTC) if found else None
        return at if at is not None and (self.started_at is None or at >= self.started_at) else None

    def comment_with_signal(self, at: datetime) -> str:
        """The comment as it shall be: what others have written stays."""
        note = f"firstlight-signalled={int(at.timestamp())}"
        if _SIGNALLED.search(self.admin_comment):
            return _SIGNALLED.sub(note, self.admin_comment)
        return f"{self.admin_comment}; {note}" if self.admin_comment else note


def read_nodes(document: Mapping[str, Any]) -> dict[str, SlurmNode]:
    """By name. Raises ValueError, KeyError or TypeError for a document that holds none, or that tells an error."""
    _refuse_errors(document)
    return {node["name"]: _node(node) for node in document["nodes"]}


def read_jobs(document: Mapping[str, Any]) -> tuple[SlurmJob, ...]:
    """Those that hold nodes; a state that we do not know holds them. Raises as `read_nodes`."""
    _refuse_errors(document)
    return tuple(_job(job) for job in document["jobs"] if not _states(job["job_state"]) <= _NOT_THERE)


def view_of(node: SlurmNode, jobs: Collection[SlurmJob]) -> SchedulerView:
    """`jobs`: of this node."""
    return SchedulerView(
        cordons=tuple(_cordons(node)),
        jobs=tuple(Job(job.id, job.ends_at) for job in jobs),
        busy=bool(node.states & _BUSY) or node.rebooting,
        labels=frozenset(feature.removeprefix("firstlight-") for feature in node.features),
        away=_away(node),
        blocked=_blocked(node),
    )


def _refuse_errors(document: Mapping[str, Any]) -> None:
    """Slurm's commands end with 0 and an empty list where slurmctld does not answer (seen in 22.05)."""
    if document.get("errors"):
        raise ValueError(f"it tells an error: {str(document['errors'])[:300]}")


def _node(raw: Mapping[str, Any]) -> SlurmNode:
    after = raw.get("next_state_after_reboot", ""), raw.get("next_state_after_reboot_flags", ())
    features = raw.get("features") or ""
    return SlurmNode(
        name=raw["name"],
        states=_states(raw["state"]) | _states(raw.get("state_flags", ())),
        reason=raw.get("reason") or "",
        reason_by=raw.get("reason_set_by_user") or "",
        features=tuple(features.split(",") if isinstance(features, str) else features) if features else (),
        resumes_after_reboot=any("RESUME" in _states(one) for one in after),
    )


def _job(raw: Mapping[str, Any]) -> SlurmJob:
    limit, end = _number(raw.get("time_limit")), _number(raw.get("end_time"))
    start = _number(raw.get("start_time"))
    return SlurmJob(
        id=str(raw["job_id"]),
        nodes=frozenset(expand_hostlist(raw.get("nodes") or "")),
        started_at=datetime.fromtimestamp(start, UTC) if start else None,
        ends_at=datetime.fromtimestamp(end, UTC) if limit and end else None,
        requeue=bool(raw.get("requeue", True)),
        admin_comment=raw.get("admin_comment") or "",
    )


def _states(value: str | Collection[str]) -> frozenset[str]:
    """One word up to 22.05, a list of words since."""
    return _capitals((value,) if isinstance(value, str) else tuple(value))


@lru_cache(maxsize=4096)
def _capitals(words: tuple[str, ...]) -> frozenset[str]:
    """Of 10,000 nodes most are in the same few states."""
    return frozenset(word.upper() for word in words)


def _number(value: Any) -> int | None:
    """A number, or since 23.02 an object that says whether there is one."""
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return value if isinstance(value, int) else None


def _cordons(node: SlurmNode) -> Iterator[Cordon]:
    """Slurm keeps one reason for a node, whoever writes last."""
    ours = OurReason.parse(node.reason)
    down = "DOWN" in node.states and not node.reason.startswith(_BY_SLURM) and node.reason != ""
    if node.states & _OUT or (down and not node.rebooting):
        yield Cordon(OWNER if ours else node.reason_by or "somebody", node.reason)
    elif node.rebooting:
        yield Cordon("slurm", f"reboots it: {node.reason}")


def _away(node: SlurmNode) -> str:
    if node.states & _NO_WORD:
        return f"slurmd does not answer ({', '.join(sorted(node.states))})"
    if "DOWN" in node.states and (not node.reason or node.reason.startswith(_BY_SLURM)):
        return f"down: {node.reason or 'no reason given'}"
    return ""


def _blocked(node: SlurmNode) -> tuple[str, ...]:
    if not node.rebooting:
        return ()
    after = "and puts it back into service by itself then" if node.resumes_after_reboot else "by itself"
    return (f"Slurm reboots it {after}: wait until it is up again, or scontrol cancel_reboot {node.name}",)
