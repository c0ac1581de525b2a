"""Promotions: a release on its way into a channel, and everything that it stands on."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.channel import Channel
from provisioner.models.identifiers import ReleaseDigest


class PromotionState(StrEnum):
    """Only APPLIED moves the pointer of the channel."""

    REQUESTED = "requested"
    CHECKING = "checking"
    """Evidence is missing, or speaks against it."""
    AWAITING_SOAK = "awaiting_soak"
    AWAITING_APPROVAL = "awaiting_approval"
    APPROVED = "approved"
    """Nothing is missing but that the calendar lets it through."""
    APPLIED = "applied"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    """Another release was requested for the same channel and hardware class."""
    CANCELLED = "cancelled"


ENDED = frozenset(
    {
        PromotionState.APPLIED,
        PromotionState.REJECTED,
        PromotionState.EXPIRED,
        PromotionState.SUPERSEDED,
        PromotionState.CANCELLED,
    }
)


class GateName(StrEnum):
    """What has to be so before a pointer moves."""

    SIGNATURES = "signatures"
    TESTS = "tests"
    SBOM = "sbom"
    STOPS = "stops"
    COMPATIBILITY = "compatibility"
    SOAK = "soak"
    SECOND_PERSON = "second_person"
    FREEZE = "freeze"


WAIVABLE = frozenset({GateName.SIGNATURES, GateName.TESTS, GateName.SBOM, GateName.SOAK, GateName.FREEZE})
"""Nobody waives a stop rule, an incompatibility, or the second person."""


class GateState(StrEnum):
    """WAIVED and NOT_NEEDED let through as PASSED does."""

    PASSED = "passed"
    WAITING = "waiting"
    FAILED = "failed"
    """What is there speaks against it."""
    WAIVED = "waived"
    NOT_NEEDED = "not_needed"


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate as it was last seen. `missing` and `remedy` are empty where it lets through."""

    name: GateName
    state: GateState
    seen: str
    missing: str = ""
    remedy: str = ""
    evidence: tuple[str, ...] = ()
    """Digests of signed statements that it was judged by."""

    @property
    def is_open(self) -> bool:
        """It lets through."""
        return self.state in {GateState.PASSED, GateState.WAIVED, GateState.NOT_NEEDED}


@dataclass(frozen=True, slots=True)
class Approval:
    """A person has looked, and says yes."""

    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Waiver:
    """A gate that two persons do without, until `expires_at`. One person alone has only asked for it."""

    gate: GateName
    reason: str
    who: str
    at: datetime
    expires_at: datetime
    confirmed_by: str | None = None

    def holds(self, now: datetime) -> bool:
        """A second person has confirmed it, and it has not expired."""
        return self.confirmed_by is not None and now < self.expires_at


@dataclass(frozen=True, slots=True)
class Promotion:
    """One release for one channel of one hardware class. Its candidate never changes: another is another promotion."""

    id: str
    channel: Channel
    hardware_class: str
    release: ReleaseDigest
    release_name: str
    reason: str
    requester: str
    requested_at: datetime
    expires_at: datetime
    state: PromotionState = PromotionState.REQUESTED
    since: datetime | None = None
    why: str = ""
    """Why it ended, where a person or another promotion ended it."""
    gates: tuple[Gate, ...] = ()
    approvals: tuple[Approval, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    ended_at: datetime | None = None
    decision: str | None = None
    """Digest of the signed statement about how it ended."""
    revision: int = 0
    """Grows by 1 with each change that was kept."""

    @property
    def has_ended(self) -> bool:
        """Nothing more happens to it."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class PromotionLine:
    """One line of its history."""

    at: datetime
    what: str
