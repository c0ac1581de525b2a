"""A firmware package as a BMC gets it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Package:
    """The file for a push, the URL for a pull."""

    path: Path
    url: str
    size_bytes: int
