"""The audit log: who changed what, each line chained to the one before it by its digest. Pure."""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

NOTHING_BEFORE = "sha256:" + "0" * 64
"""`previous` of the first line."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change that somebody asked for. Names, digests and ids only: never a secret, never free text."""

    at: datetime
    who: str
    what: str
    """Noun and verb, such as `node.hold`."""
    subject: str
    """The node, campaign or the like that was changed."""
    before: str | None = None
    """Digest of what was there, where there is one."""
    after: str | None = None
    evidence: tuple[str, ...] = ()
    """Ids or digests of what the decision stands on."""
    request: str = ""
    """The request's id, as in the service's log; empty when no request asked."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """An entry in its place. Numbers begin at 1, without a gap."""

    number: int
    entry: AuditEntry
    previous: str
    """Digest of the line before it."""
    digest: str
    """SHA-256 over all else, as `sha256:<hex>`."""


def follow(last: AuditLine | None, entry: AuditEntry) -> AuditLine:
    """The line for `entry` behind `last`; None: it is the first."""
    number, previous = (1, NOTHING_BEFORE) if last is None else (last.number + 1, last.digest)
    return seal(AuditLine(number, entry, previous, ""))


def seal(line: AuditLine) -> AuditLine:
    """The same with the digest that its content has."""
    return replace(line, digest="sha256:" + hashlib.sha256(_json(_content(line))).hexdigest())


def text_of(line: AuditLine) -> str:
    """The one way to write it: JSON in one line, keys in order, no spaces."""
    return _json({**_content(line), "digest": line.digest}).decode()


def _content(line: AuditLine) -> dict[str, Any]:
    entry = line.entry
    return {
        "number": line.number,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "who": entry.who,
        "what": entry.what,
        "subject": entry.subject,
        "before": entry.before,
        "after": entry.after,
        "evidence": list(entry.evidence),
        "request": entry.request,
        "previous": line.previous,
    }


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
