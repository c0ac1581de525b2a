"""Requests that say who they are (Idempotency-Key), so that each is done once however often it is sent.

IETF draft-ietf-httpapi-idempotency-key-header. A claim is written before the work, marked in the very transaction of
the change (by the audit line, which carries the request's id), and completed by the answer. A claim whose process died
is taken over; what the dead one did is known by the mark, and what it did not do it can do no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from provisioner.errors import FirstlightError


class KeyMissing(FirstlightError):
    """This request is done only with a key."""


class KeyReused(FirstlightError):
    """The key is that of another request."""


class StillRunning(FirstlightError):
    """The first of these equal requests is not answered yet: ask again."""


@dataclass(frozen=True, slots=True)
class ClaimOrder:
    """Whose request it is, and which. `fingerprint`: equal for equal requests, and for no others."""

    request: str
    """The id of this try, as in the audit log."""
    principal: str
    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """This try has the work. `done`: what an earlier one, which was cut off, has changed (the audit line's subject)."""

    done: str | None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The work is done, and this was the answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RequestClaims(Protocol):
    """Of all workers. A key is known for 24 hours at least."""

    async def claim(self, order: ClaimOrder, until: datetime) -> Claim | KeptAnswer:
        """Take the work; from `until` on another try may take it over. Raises `KeyReused`, `StillRunning`."""
        ...

    async def renew(self, request: str, until: datetime) -> None:
        """It goes on."""
        ...

    async def keep(self, request: str, answer: KeptAnswer) -> None:
        """The work is done."""
        ...

    async def release(self, request: str) -> None:
        """It ended without a good answer: the next try begins at once, and knows of what was changed."""
        ...
