"""What must be kept and served for a rollout. Pure."""

from datetime import datetime

from provisioner.models.identifiers import ReleaseDigest
from provisioner.rollout.state import Rollout


def pinned(rollout: Rollout, now: datetime) -> frozenset[ReleaseDigest]:
    """Old and new, from the plan until the end and its retention; nothing after that."""
    spec = rollout.plan.spec
    if rollout.closed_at is not None and now >= rollout.closed_at + spec.retention:
        return frozenset()
    units = rollout.plan.units
    return frozenset({spec.to_release, *(units[name].release for wave in rollout.plan.waves for name in wave)})
