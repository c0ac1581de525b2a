"""What one profile changes in another, where every value knows who wrote it; changes compose, and the order is all.

A later scalar wins. Mappings merge key by key. Records of a list merge by their `name`, `path`, `id` or `key`; other
items are appended once. `$replace` puts its value in place of everything before it, `$remove` takes entries away.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from profiles.yaml_source import FieldPath, Located, Position

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in a file: the value at `field` of the document."""

    document: Located
    field: FieldPath

    @property
    def position(self) -> Position:
        """Line and column."""
        return self.document.positions[self.field]


@dataclass(frozen=True, slots=True)
class Written:
    """A value as one file has it. `value` is None for mappings and lists, whose entries tell for themselves."""

    value: Scalar
    origin: Origin


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value. `overrode` are those that lost against it, the oldest first."""

    value: Scalar
    written: tuple[Written, ...]
    overrode: tuple[Written, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """A mapping, or a list whose entries go by what identifies them. `written`: every file that wrote to it.

    `removed` goes before `entries` do: what is in both is taken away and written anew.
    """

    is_list: bool
    entries: Mapping[str, "Patch"]
    written: tuple[Written, ...]
    removed: Mapping[str, Origin]
    replaces: bool = False
    overrode: tuple[Written, ...] = ()


Patch = Leaf | Branch


def compose(older: Patch, newer: Patch) -> Patch:
    """Return the change that does what `older` and then `newer` do. Associative; a patch after itself is itself."""
    if isinstance(older, Branch) and isinstance(newer, Branch) and older.is_list == newer.is_list:
        return newer if newer is older else _compose_branches(older, newer)
    overrode = _without(_unique(*older.overrode, *older.written, *newer.overrode), newer.written)
    if isinstance(newer, Leaf):
        return replace(newer, overrode=overrode)
    return replace(newer, overrode=overrode, replaces=True)


def plain(patch: Patch) -> Any:
    """Return the value without its history."""
    if isinstance(patch, Leaf):
        return patch.value
    if patch.is_list:
        return [plain(entry) for entry in patch.entries.values()]
    return {key: plain(entry) for key, entry in patch.entries.items()}


def without(patch: Branch, keys: frozenset[str]) -> Branch:
    """Return the mapping without some of its entries."""
    return replace(patch, entries={key: entry for key, entry in patch.entries.items() if key not in keys})


def vain_removals(older: Patch, newer: Patch) -> Iterator[tuple[Origin, str, tuple[str, ...]]]:
    """Yield what `newer` takes away although `older` has no such entry: where, its key, and the keys that are there."""
    if not isinstance(newer, Branch) or newer.replaces:
        return
    there = older.entries if isinstance(older, Branch) and older.is_list == newer.is_list else {}
    for key, origin in newer.removed.items():
        if key not in there:
            yield origin, key, tuple(there)
    for key, entry in newer.entries.items():
        if key in there and key not in newer.removed:
            yield from vain_removals(there[key], entry)


def _compose_branches(older: Branch, newer: Branch) -> Branch:
    if newer.replaces:
        overrode = _without(_unique(*older.overrode, *older.written, *newer.overrode), newer.written)
        return replace(newer, overrode=overrode)
    entries = {key: entry for key, entry in older.entries.items() if key not in newer.removed}
    for key, entry in newer.entries.items():
        entries[key] = compose(entries[key], entry) if key in entries else entry
    return Branch(
        is_list=older.is_list,
        entries=entries,
        written=_unique(*older.written, *newer.written),
        removed={**older.removed, **newer.removed},
        replaces=older.replaces,
        overrode=_unique(*older.overrode, *newer.overrode),
    )


def _unique(*written: Written) -> tuple[Written, ...]:
    """Each place once, in the order of the first mention."""
    return tuple({_place(one): one for one in written}.values())


def _without(written: tuple[Written, ...], others: tuple[Written, ...]) -> tuple[Written, ...]:
    places = {_place(one) for one in others}
    return tuple(one for one in written if _place(one) not in places)


def _place(written: Written) -> tuple[str, FieldPath]:
    return str(written.origin.document.file), written.origin.field
