"""Is the audit log whole?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from provisioner.models.audit import NOTHING_BEFORE, AuditEntry, AuditLine, seal, text_of


class AuditDocument(BaseModel):
    """One line as it leaves and comes in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    at: datetime
    who: str
    what: str
    subject: str
    before: str | None
    after: str | None
    evidence: tuple[str, ...]
    request: str
    previous: str
    digest: str

    @classmethod
    def of(cls, line: AuditLine) -> Self:
        """The document of a line."""
        entry = line.entry
        return cls(
            number=line.number,
            at=entry.at,
            who=entry.who,
            what=entry.what,
            subject=entry.subject,
            before=entry.before,
            after=entry.after,
            evidence=entry.evidence,
            request=entry.request,
            previous=line.previous,
            digest=line.digest,
        )

    def line(self) -> AuditLine:
        """The line of a document."""
        entry = AuditEntry(
            at=self.at,
            who=self.who,
            what=self.what,
            subject=self.subject,
            before=self.before,
            after=self.after,
            evidence=self.evidence,
            request=self.request,
        )
        return AuditLine(self.number, entry, self.previous, self.digest)


@dataclass(frozen=True, slots=True)
class Verified:
    """Every line is as it was written, and none is missing between the first and the last."""

    count: int
    head: str
    """Digest of the last line; keep it: a log that was cut off behind it is told by it."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The first line that is not as it was written. `place` counts the lines from 1."""

    place: int
    why: str


def verify(texts: Iterable[str], head: str | None = None) -> Verified | Broken:
    """Follow the chain from number 1 on. `head`: a digest that was kept, and that must be among the lines."""
    rest = iter(texts)
    last: AuditLine | None = None
    head_seen = head in {None, NOTHING_BEFORE}
    place = 0
    for place, text in enumerate(rest, 1):
        line = _parse(text)
        why = "it is no line of an audit log" if line is None else _fault(line, text, last, rest)
        if line is None or why:
            return Broken(place, why)
        last = line
        head_seen = head_seen or line.digest == head
    if not head_seen:
        return Broken(place + 1, f"the line with digest {head} is missing: the end of the log was cut off or rewritten")
    return Verified(place, NOTHING_BEFORE if last is None else last.digest)


def _parse(text: str) -> AuditLine | None:
    try:
        return AuditDocument.model_validate_json(text).line()
    except (ValidationError, OverflowError):
        return None


def _fault(line: AuditLine, text: str, last: AuditLine | None, rest: Iterator[str]) -> str:
    """What is wrong with a line behind `last`; "" for nothing. Looks through the `rest` for one that is not here."""
    wanted = 1 if last is None else last.number + 1
    if line.number != wanted:
        return _misplaced(line, wanted, rest)
    if seal(line).digest != line.digest or text_of(line) != text.strip():
        return f"{_name(line)} was changed: its digest does not fit its content"
    if line.previous != (NOTHING_BEFORE if last is None else last.digest):
        before = "the beginning" if last is None else _name(last)
        return f"{before} was replaced: {_name(line)} was written behind another line"
    return ""


def _misplaced(line: AuditLine, wanted: int, rest: Iterator[str]) -> str:
    if line.number < wanted:
        return f"{_name(line)} is here a second time, or was moved: entry {wanted} belongs here"
    if any(one is not None and one.number == wanted for one in map(_parse, rest)):
        return f"the order was changed: {_name(line)} is here, and entry {wanted}, which belongs here, comes later"
    missing = f"entry {wanted} is" if line.number == wanted + 1 else f"entries {wanted} to {line.number - 1} are"
    return f"{missing} missing before {_name(line)}"


def _name(line: AuditLine) -> str:
    return f"entry {line.number} ({line.entry.what} {line.entry.subject} by {line.entry.who})"
