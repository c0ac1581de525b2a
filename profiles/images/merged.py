"""A profile with everything that it inherits, as one document whose findings lead to the file that wrote the value."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from profiles.findings import Finding
from profiles.images.patch import Branch, Leaf, Origin, Patch, plain
from profiles.yaml_source import FieldPath, Located, Position, dotted


@dataclass(frozen=True, slots=True)
class Merged(Located):
    """`file` is the profile's own; `patches` holds the value at each field with its history."""

    patches: Mapping[FieldPath, Patch]

    def finding(self, field: FieldPath, message: str, hint: str = "", *, at_key: bool = False) -> Finding:
        """A finding where the value was written; for one that nobody wrote, near it in the profile's own file."""
        patch = self.patches.get(field)
        if patch is not None:
            origin = patch.written[-1].origin
            return origin.document.finding(origin.field, message, hint, at_key=at_key)
        position = self._nearest_own(field)
        return Finding(self.file, position.line, position.column, dotted(field), message, hint)

    def _nearest_own(self, field: FieldPath) -> Position:
        for length in range(len(field) - 1, -1, -1):
            patch = self.patches.get(field[:length])
            for written in patch.written if patch else ():
                if written.origin.document.file == self.file:
                    return written.origin.position
        return Position(1, 1)


def merged_document(own: Located, patch: Branch) -> Merged:
    """The result of all patches of a chain, of which `own` is the last document."""
    patches: dict[FieldPath, Patch] = {}
    _collect(patch, (), patches)
    origins = {field: one.written[-1].origin for field, one in patches.items()}
    return Merged(
        file=own.file,
        value=plain(patch),
        positions=MappingProxyType({field: origin.position for field, origin in origins.items()}),
        key_positions=MappingProxyType(dict(_keys(origins))),
        raw=MappingProxyType(dict(_raw(origins, patches))),
        patches=MappingProxyType(patches),
    )


def _collect(patch: Patch, field: FieldPath, into: dict[FieldPath, Patch]) -> None:
    into[field] = patch
    if isinstance(patch, Branch):
        for index, (key, entry) in enumerate(patch.entries.items()):
            _collect(entry, (*field, index if patch.is_list else key), into)


def _keys(origins: dict[FieldPath, Origin]) -> list[tuple[FieldPath, Position]]:
    found = ((field, origin.document.key_positions.get(origin.field)) for field, origin in origins.items())
    return [(field, position) for field, position in found if position]


def _raw(origins: dict[FieldPath, Origin], patches: dict[FieldPath, Patch]) -> list[tuple[FieldPath, str]]:
    found = ((field, origin.document.raw.get(origin.field)) for field, origin in origins.items())
    return [(field, text) for field, text in found if text is not None and isinstance(patches[field], Leaf)]
