"""A rollout together with what only its keeping needs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from provisioner.models.identifiers import ReleaseDigest
from provisioner.rollout.state import Rollout, RolloutState


@dataclass(frozen=True, slots=True)
class Kept:
    """One rollout as it is kept. `revision` grows with each change that was kept."""

    rollout: Rollout
    who: str
    created_at: datetime
    request: dict[str, Any]
    """What was asked for, word for word: the same again under the same name is the same rollout."""
    revision: int = 0

    @property
    def name(self) -> str:
        """Its own for ever."""
        return self.rollout.plan.spec.name


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a rollout's history."""

    at: datetime
    what: str


@dataclass(frozen=True, slots=True)
class Glance:
    """One rollout in a list. `why`: it is not running, or went back."""

    name: str
    pool: str
    release: ReleaseDigest
    state: RolloutState
    why: str
    who: str
    created_at: datetime
    closed_at: datetime | None
