"""Versions of NVIDIA's software: numbers between dots, compared as numbers (525.60.13 is older than 525.105.17)."""

import re

Version = tuple[int, ...]

_DOTTED = re.compile(r"(\d{1,9}(?:\.\d{1,9}){1,5})(?:[-+~].*)?", re.ASCII)


def parse_version(text: str) -> Version:
    """Return the numbers of `580.95.05`; what a distribution appends (`-1ubuntu2`, `+bpo-amd64`) does not count.

    Raises ValueError for anything else.
    """
    found = _DOTTED.fullmatch(text)
    if not found:
        raise ValueError(f'"{text}" is not numbers between dots')
    return tuple(int(number) for number in found[1].split("."))


def parse_prefix(text: str) -> Version:
    """Return the numbers of the beginning of a version: `12`, `13.0` or `13.0.1`."""
    return tuple(int(number) for number in text.split("."))


def is_after(version: Version, prefix: Version) -> bool:
    """Say whether the version lies beyond everything that begins with `prefix`: 13.0.0 is after 12, 12.9.1 is not."""
    return version[: len(prefix)] > prefix
