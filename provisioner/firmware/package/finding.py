"""What is worth saying about a package that is not refused for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MOST_FINDINGS = 100


class Severity(StrEnum):
    """ERROR: do not send it to this device. WARNING: somebody should look. NOTE: what could not be judged."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class PackageFinding:
    """`offset`: where the field is in the file, in bytes, if it has a place."""

    severity: Severity
    field: str
    offset: int | None
    text: str

    def __str__(self) -> str:
        """One line for a person."""
        place = "" if self.offset is None else f" at byte {self.offset} ({self.offset:#x})"
        return f"{self.field}{place}: {self.text}"


class Findings:
    """Collects findings, no more than `MOST_FINDINGS`: a file may give a reason in every byte."""

    def __init__(self) -> None:
        """None yet."""
        self._found: list[PackageFinding] = []
        self._left_out = 0

    def add(self, severity: Severity, field: str, offset: int | None, text: str) -> None:
        """Keep it, or count it."""
        if len(self._found) < MOST_FINDINGS:
            self._found.append(PackageFinding(severity, field, offset, text))
        else:
            self._left_out += 1

    def extend(self, field: str, base: int, others: Iterable[PackageFinding]) -> None:
        """Findings about a part named `field` that starts at byte `base`."""
        for one in others:
            offset = None if one.offset is None else base + one.offset
            self.add(one.severity, f"{field}, {one.field}", offset, one.text)

    def all(self) -> tuple[PackageFinding, ...]:
        """In the order of the file; the last says how many were left out."""
        if not self._left_out:
            return tuple(self._found)
        text = f"{self._left_out} more findings of this file are not shown"
        return (*self._found, PackageFinding(Severity.WARNING, "file", None, text))
