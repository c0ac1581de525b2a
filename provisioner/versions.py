"""Firmware version strings: equal or not. Order is never guessed from the text."""

import re

MISSING = frozenset({"", "n/a", "not present", "version not available", "unknown", "-*", "null", "none"})
"""What BMCs write where there is no version (seen on Supermicro, Lenovo and Dell machines)."""


def normalise(version: str) -> str:
    """Trim, drop NULs, collapse inner space and fold case; idempotent. Zeros, prefixes and dates stay."""
    return " ".join(version.replace("\0", " ").split()).casefold()


def is_missing(version: str | None) -> bool:
    """The BMC gives no version: the part is absent or silent, not old."""
    return version is None or normalise(version) in MISSING


def extract(version: str, pattern: str | None) -> str:
    """The part of a reported string that the catalog compares: group 1 of `pattern`, the whole string without one.

    A string that the pattern does not fit is returned whole, so that it never equals by accident.
    """
    found = re.search(pattern, version) if pattern else None
    return found.group(1) if found else version


def equal(reported: str | None, wanted: str, pattern: str | None = None) -> bool:
    """The reported version is the wanted one, after normalisation. A missing version equals nothing."""
    if reported is None or is_missing(reported):
        return False
    return normalise(extract(reported, pattern)) == normalise(wanted)
