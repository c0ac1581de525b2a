"""What a scheduler says of nodes, and what we ask of it. Jobs are Slurm's jobs and Kubernetes' pods alike."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from provisioner.models.identifiers import ReleaseDigest

OWNER = "Firstlight"

_REASON = re.compile(rf"^{OWNER}: rollout=(\S+) epoch=(\d+)(?:\s*[;:]\s*(.*))?$", re.ASCII | re.DOTALL)
_LABEL = re.compile(r"sha256-[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class OurReason:
    """Whose a cordon of ours is, and why. It is kept in the scheduler itself, so that it outlives us.

    `rollout`: without blanks. `epoch`: of the controller; who has a lower one may change nothing any more.
    """

    rollout: str
    epoch: int
    why: str = ""

    @property
    def text(self) -> str:
        """As the scheduler shows it."""
        return f"{OWNER}: rollout={self.rollout} epoch={self.epoch}" + (f"; {self.why}" if self.why else "")

    @classmethod
    def parse(cls, text: str) -> "OurReason | None":
        """The reverse of `text`; None where somebody else has written it. Slurm itself adds ` : reboot issued`."""
        found = _REASON.match(text.strip())
        return cls(found[1], int(found[2]), found[3] or "") if found else None


@dataclass(frozen=True, slots=True)
class Cordon:
    """One reason for which no job may start on a node. `by`: a person, a program, or `Firstlight`."""

    by: str
    reason: str

    @property
    def ours(self) -> OurReason | None:
        """Whose of us it is; None for somebody else's, which we never lift."""
        return OurReason.parse(self.reason) if self.by == OWNER else None

    def __str__(self) -> str:
        """For a person."""
        return f"{self.by}: {self.reason or 'no reason given'}"


@dataclass(frozen=True, slots=True)
class Job:
    """Something that runs on a node. `ends_at`: the latest end, where it has a limit."""

    id: str
    ends_at: datetime | None = None

    def __str__(self) -> str:
        """For a person."""
        return f"{self.id} (until {self.ends_at:%Y-%m-%d %H:%M} UTC at the latest)" if self.ends_at else self.id


class Standing(StrEnum):
    """Whether jobs may start on a node, and whether any are left."""

    IN_SERVICE = "in_service"
    CORDONED = "cordoned"
    """By somebody else alone."""
    DRAINING = "draining"
    """Ours; something still runs there."""
    DRAINED = "drained"
    """Ours; the scheduler says that nothing is left."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SchedulerView:
    """One node as its scheduler sees it.

    `jobs`: those that we may see. `busy`: the scheduler says that something runs, whether we see it or not. `away`: the
    scheduler's own program on the node does not answer, and since when or why. `unknown`: why nothing can be said.
    `blocked`: what keeps a drain from going on, and what a person can do; it is tried again with each call.
    """

    cordons: tuple[Cordon, ...] = ()
    jobs: tuple[Job, ...] = ()
    busy: bool = False
    labels: frozenset[str] = frozenset()
    away: str = ""
    unknown: str = ""
    blocked: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """Missing information is never `drained`, and never `in_service`."""
        if self.unknown or (self.away and not self.cordons):
            return Standing.UNKNOWN
        if not self.cordons:
            return Standing.IN_SERVICE
        if not any(cordon.ours for cordon in self.cordons):
            return Standing.CORDONED
        return Standing.DRAINING if self.jobs or self.busy else Standing.DRAINED

    def ours(self, rollout: str) -> OurReason | None:
        """The cordon of this rollout."""
        reasons = (cordon.ours for cordon in self.cordons)
        return next((reason for reason in reasons if reason is not None and reason.rollout == rollout), None)

    def vetoes(self, rollout: str) -> tuple[Cordon, ...]:
        """Cordons of everybody else, other rollouts included: they are named, and stay."""
        return tuple(one for one in self.cordons if one.ours is None or one.ours.rollout != rollout)

    @property
    def release_labels(self) -> frozenset[str]:
        """Of releases alone; see `release_label`."""
        return frozenset(label for label in self.labels if _LABEL.fullmatch(label))


@dataclass(frozen=True, slots=True)
class WaitForJobs:
    """No job is touched. After `until` the view names what still runs.

    In Kubernetes pods that would never end (`restartPolicy: Always`) are evicted, as a drain does there.
    """

    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class CheckpointThenRequeue:
    """Each job is sent `signal` once, such as `USR1`, and is put back into the queue after `grace`.

    In Kubernetes pods are evicted, and have `grace` to end.
    """

    signal: str = "USR1"
    grace: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Force:
    """Jobs end at once, whatever protects them. `permitted_by`: who has allowed that; never empty."""

    permitted_by: str

    def __post_init__(self) -> None:
        """Refuses to be made without permission."""
        if not self.permitted_by.strip():
            raise ValueError("force ends people's jobs: say who has permitted it")


DrainPolicy = WaitForJobs | CheckpointThenRequeue | Force


def release_label(release: ReleaseDigest) -> str:
    """A release as schedulers can carry it: no colon, and short enough for a label of Kubernetes (63 characters)."""
    return release.replace(":", "-")[:47]
