"""Webhooks: where events are sent to, and how. Pure."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from provisioner.models.event import Event
from provisioner.models.secret import Secret

SECRET_PREFIX = "whsec_"
"""What secrets of Standard Webhooks begin with."""
TYPE_PREFIX = "firstlight.node."


@dataclass(frozen=True, slots=True)
class Webhook:
    """One of them. `types`: of events; empty for all. `cursor`: the last event that is done with.

    `tries`: of the event behind the cursor, which was not taken; not tried again before `next_try_at`.
    """

    id: str
    url: str
    types: frozenset[str]
    who: str
    created_at: datetime
    cursor: int
    tries: int = 0
    next_try_at: datetime | None = None
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that was not taken in all its tries. `number` is given by the store; `body`: what was sent."""

    webhook: str
    event: int
    at: datetime
    error: str
    body: str
    number: int = 0
    redeliver: bool = False


@dataclass(frozen=True, slots=True)
class Retries:
    """How often, and how long between: twice as long each time."""

    first: timedelta = timedelta(seconds=5)
    longest: timedelta = timedelta(hours=1)
    tries: int = 14
    """About four hours in all."""

    def pause(self, tries: int) -> timedelta:
        """After `tries` in vain (1 or more)."""
        return min(self.longest, self.first * float(2 ** min(tries - 1, 30)))


def failed(webhook: Webhook, error: str, now: datetime, retries: Retries) -> Webhook:
    """It was not taken: try again later. Whoever asks for more tries than there are buries the event."""
    tries = webhook.tries + 1
    return replace(webhook, tries=tries, next_try_at=now + retries.pause(tries), last_error=error)


def passed(webhook: Webhook, event: int, error: str = "") -> Webhook:
    """The event is done with; `error`: it was buried for that."""
    return replace(webhook, cursor=event, tries=0, next_try_at=None, last_error=error)


def type_of(event: Event) -> str:
    """In reverse-DNS order, as CloudEvents wants it."""
    return f"{TYPE_PREFIX}{event.kind}"


def cloud_event(site: str, event: Event) -> str:
    """CloudEvents 1.0 in JSON."""
    document: dict[str, Any] = {
        "specversion": "1.0",
        "id": str(event.id),
        "source": f"/sites/{site}",
        "type": type_of(event),
        "subject": f"nodes/{event.node}",
        "time": event.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "data": {
            "id": event.id,
            "node": event.node,
            "kind": event.kind,
            "reason": event.reason,
            "from_state": event.from_state,
            "to_state": event.to_state,
        },
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def signed_headers(secret: Secret, message: str, now: datetime, body: str) -> dict[str, str]:
    """As Standard Webhooks 1.0 says: HMAC-SHA256 over id, timestamp and body. `message` is the same in each try."""
    timestamp = str(int(now.timestamp()))
    key = base64.b64decode(secret.reveal().removeprefix(SECRET_PREFIX))
    digest = hmac.new(key, f"{message}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": message,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
