"""What is wrong with the YAML that people wrote, all of it at once."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing to correct. `line` and `column` count from 1; `field` is a dotted path or empty."""

    file: Path
    line: int
    column: int
    field: str
    message: str
    hint: str

    def __str__(self) -> str:
        """Return `path:line: field: what is wrong; remedy`, which editors can jump to."""
        where = f"{self.file}:{self.line}: "
        field = f"{self.field}: " if self.field else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{where}{field}{self.message}{hint}"


class ProfileError(Exception):
    """The YAML cannot be used. `findings` is never empty and is in the order of files and lines."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        """Sort the findings; the text of the error is one finding per line."""
        self.findings = tuple(sorted(findings))
        super().__init__("\n".join(map(str, self.findings)))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `did you mean "x"?` for the nearest known word, or all known words, or an empty string."""
    words = sorted(known)
    nearest = difflib.get_close_matches(word, words, n=1)
    if nearest:
        return f'did you mean "{nearest[0]}"?'
    return f"known: {', '.join(words)}" if words else ""
