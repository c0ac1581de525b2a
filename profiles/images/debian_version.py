"""Versions of Debian packages in their order (Debian Policy 5.6.12)."""

import re

_PARTS = re.compile(r"(\D*)(\d*)")


def compare_versions(one: str, other: str) -> int:
    """Return below, equal to or above 0 as `one` is older than, equal to or newer than `other`."""
    mine, yours = _key(one), _key(other)
    return (mine > yours) - (mine < yours)


def upstream(version: str) -> str:
    """Return the version without epoch and revision: `580.95.05` of `1:580.95.05-1`."""
    after_epoch = version.partition(":")[2] if ":" in version else version
    return after_epoch.rpartition("-")[0] if "-" in after_epoch else after_epoch


_Key = tuple[int, list[tuple[tuple[int, ...], int]], list[tuple[tuple[int, ...], int]]]


def _key(version: str) -> _Key:
    epoch, _, rest = version.rpartition(":") if ":" not in version else version.partition(":")
    name, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "0")
    return int(epoch or 0), _ordered(name), _ordered(revision)


def _ordered(text: str) -> list[tuple[tuple[int, ...], int]]:
    """Letters and digits by turns; `~` comes before the end, the end before letters, letters before the rest."""
    parts = [(tuple(map(_rank, words)), int(digits or 0)) for words, digits in _PARTS.findall(text)]
    return [((*words, _END), number) for words, number in parts]


_END = 0


def _rank(character: str) -> int:
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256
