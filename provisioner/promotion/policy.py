"""What a channel asks of a release. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from provisioner.models.channel import Channel
from provisioner.promotion.freeze import Freeze


@dataclass(frozen=True, slots=True)
class SoakLimits:
    """How long nodes have to run it first: all three."""

    hours: float = 0.0
    """With at least one node on it."""
    node_hours: float = 0.0
    domains: int = 0
    """Racks with a node that has run it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Of one channel. `approvals`: persons beside the requester; one more where firmware cannot go back."""

    signatures: bool
    tests: bool
    sbom: bool
    soak: SoakLimits
    approvals: int
    expires_after: timedelta = timedelta(days=14)
    longest_waiver: timedelta = timedelta(days=7)
    freezes: tuple[Freeze, ...] = ()


DEFAULTS: Mapping[Channel, Policy] = {
    Channel.DEV: Policy(signatures=False, tests=False, sbom=False, soak=SoakLimits(), approvals=0),
    Channel.CANARY: Policy(signatures=True, tests=True, sbom=True, soak=SoakLimits(1.0, 2.0, 1), approvals=1),
    Channel.PRODUCTION: Policy(signatures=True, tests=True, sbom=True, soak=SoakLimits(24.0, 100.0, 2), approvals=1),
}
"""Dev asks for nothing but compatibility, so that a release can be looked at; the others ask for evidence."""
