"""Channels: which release a hardware class gets, by how sure of it the site is."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import ReleaseDigest


class Channel(StrEnum):
    """From the first look to what jobs run on."""

    DEV = "dev"
    CANARY = "canary"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a channel of one hardware class stands. Digests never change; pointers move."""

    channel: Channel
    hardware_class: str
    release: ReleaseDigest
    revision: int
    """Grows by 1 with each move, from 1: what a person saw is named by it."""
    since: datetime
    who: str


@dataclass(frozen=True, slots=True)
class Movement:
    """One move of a pointer. `promotion`: the id of the one that was applied; None: it was rolled back."""

    revision: int
    """Of the pointer behind this move."""
    release: ReleaseDigest
    at: datetime
    who: str
    reason: str
    promotion: str | None
