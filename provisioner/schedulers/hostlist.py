"""Slurm's short form of many host names: `r01-u[01-18],r02-u[3,7-9]`."""

import re
from collections.abc import Iterator
from itertools import product

_PART = re.compile(r"\[([0-9,-]+)\]|([^\[\]]+)", re.ASCII)
_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
_MOST = 200_000


def expand_hostlist(text: str) -> tuple[str, ...]:
    """All the names, in order. Raises ValueError for what is no host list, or names more than 200,000 hosts."""
    names: list[str] = []
    for word in _words(text.strip()):
        names.extend(_expand(word))
        if len(names) > _MOST:
            raise ValueError(f"{text[:60]!r} names more than {_MOST:,} hosts")
    return tuple(names)


def _words(text: str) -> Iterator[str]:
    """Split at commas outside brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if text:
        yield text[start:]


def _expand(word: str) -> Iterator[str]:
    parts, end = [], 0
    for found in _PART.finditer(word):
        if found.start() != end:
            break
        end = found.end()
        parts.append(tuple(_numbers(found[1])) if found[1] else (found[2],))
    if not word or end != len(word):
        raise ValueError(f"{word!r} is no host list of Slurm")
    return ("".join(name) for name in product(*parts))


def _numbers(ranges: str) -> Iterator[str]:
    for one in ranges.split(","):
        found = _RANGE.fullmatch(one)
        if found is None:
            raise ValueError(f"[{ranges}] is no list of numbers")
        first, last = found[1], found[2] or found[1]
        if int(last) < int(first) or int(last) - int(first) > _MOST:
            raise ValueError(f"[{ranges}] runs backwards, or too far")
        for number in range(int(first), int(last) + 1):
            yield str(number).zfill(len(first))
