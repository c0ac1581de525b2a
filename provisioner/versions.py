"""Firmware version strings: equal, older or newer. Order is declared by a catalog, never guessed from the text."""

from enum import StrEnum

from profiles.firmware.component import FirmwareComponent
from profiles.firmware.version_text import MISSING, extract, is_missing, normalise, segments

__all__ = ["MISSING", "Verdict", "equal", "extract", "is_missing", "normalise", "verdict"]


class Verdict(StrEnum):
    """What a reported version is, beside the wanted one. Only EQUAL ends an update."""

    EQUAL = "equal"
    OLDER = "older"
    NEWER = "newer"
    UNKNOWN = "unknown"
    """It differs, and nothing says which of both came first."""
    MISSING = "missing"
    """No version at all: the part is absent or silent, not old."""


def equal(reported: str | None, wanted: str, pattern: str | None = None) -> bool:
    """The reported version is the wanted one, after normalisation. A missing version equals nothing."""
    if reported is None or is_missing(reported):
        return False
    return normalise(extract(reported, pattern)) == normalise(wanted)


def verdict(reported: str | None, wanted: FirmwareComponent) -> Verdict:
    """Judge a reported version: by the rank of both in `releases`, else by the scheme that the catalog names.

    A scheme orders versions with as many segments as each other, each of which it can read; all else is UNKNOWN, and
    so are versions that are the same numbers in other words (`1.04` beside `1.4`).
    """
    if reported is None or is_missing(reported):
        return Verdict.MISSING
    running = extract(reported, wanted.extract)
    if is_missing(running):
        return Verdict.MISSING
    if normalise(running) == normalise(wanted.version):
        return Verdict.EQUAL
    return _by_rank(running, wanted) or _by_scheme(running, wanted)


def _by_rank(running: str, wanted: FirmwareComponent) -> Verdict | None:
    ranks = {normalise(release.version): rank for rank, release in enumerate(wanted.releases)}
    ours, theirs = ranks.get(normalise(wanted.version)), ranks.get(normalise(running))
    if ours is None or theirs is None:
        return None
    return Verdict.OLDER if theirs < ours else Verdict.NEWER


def _by_scheme(running: str, wanted: FirmwareComponent) -> Verdict:
    ours, theirs = segments(wanted.version, wanted.scheme), segments(running, wanted.scheme)
    if ours is None or theirs is None or len(ours) != len(theirs) or ours == theirs:
        return Verdict.UNKNOWN
    return Verdict.OLDER if theirs < ours else Verdict.NEWER
