"""The text of firmware versions as BMCs write them: what counts in it, and its order where a scheme is declared."""

import re

from profiles.firmware.component import Scheme

_SEGMENT = {
    Scheme.DOTTED_DECIMAL: (re.compile(r"[0-9]{1,18}"), 10),
    Scheme.DOTTED_HEX: (re.compile(r"[0-9a-f]{1,16}"), 16),
}

MISSING = frozenset({"", "n/a", "not present", "version not available", "unknown", "-*", "null", "none"})
"""What BMCs write where there is no version (seen on Supermicro, Lenovo and Dell machines)."""


def normalise(version: str) -> str:
    """Drop NULs, trim, collapse inner space and fold case; idempotent. Zeros, prefixes and dates stay."""
    return _spaced(version).casefold()


def is_missing(version: str | None) -> bool:
    """The BMC gives no version: the part is absent or silent, not old."""
    return version is None or normalise(version) in MISSING


def extract(version: str, pattern: str | None) -> str:
    """The part of a reported string that the catalog compares: group 1 of `pattern`, the whole string without one.

    The pattern sees the string trimmed, with single spaces and without NULs; case does not count, as it does not in
    `normalise`. A string that the pattern does not fit is returned whole, so that it never equals by accident.
    """
    found = re.search(pattern, _spaced(version), re.IGNORECASE) if pattern else None
    return found.group(1) or version if found else version


def segments(version: str, scheme: Scheme) -> tuple[int, ...] | None:
    """The numbers of a version in their order of weight; None where the scheme cannot read every one of them."""
    if scheme is Scheme.NONE:
        return None
    token, base = _SEGMENT[scheme]
    tokens = normalise(version).split(".")
    if not all(token.fullmatch(one) for one in tokens):
        return None
    return tuple(int(one, base) for one in tokens)


def _spaced(version: str) -> str:
    return " ".join(version.replace("\0", "").split())
