"""Where each value of a profile comes from, and what it won against."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from profiles.images.debian import DebianImage
from profiles.images.load import LoadedImage
from profiles.images.merged import Merged
from profiles.images.patch import Branch, Origin, Patch, Written, plain
from profiles.images.patch_source import IDENTITIES


@dataclass(frozen=True, slots=True)
class Overridden:
    """A value that lost, as JSON (`[...]` or `{...}` of a whole list or mapping), and where it is written."""

    value: str
    where: str


@dataclass(frozen=True, slots=True)
class Explained:
    """One value as JSON, `removed`, or a default. `where` is `file:line`, or `default` where no file says anything."""

    field: str
    value: str
    where: str
    overrode: tuple[Overridden, ...] = ()


def explain(image: LoadedImage) -> tuple[Explained, ...]:
    """Return every value in the order of the profile, then what was removed, then the defaults that nobody wrote."""
    root = image.document.patches[()]
    defaults = () if image.profile is None else _defaults(image.document, image.profile, ())
    return (*sorted(_values(root, ""), key=_reading_order), *_removed(root, ""), *defaults)


def place(origin: Origin) -> str:
    """`file:line`, the file without its folder."""
    return f"{origin.document.file.name}:{origin.position.line}"


def _reading_order(value: Explained) -> int:
    fields = tuple(DebianImage.model_fields)
    top = value.field.partition(".")[0].partition("[")[0]
    return fields.index(top) if top in fields else len(fields)


def _values(patch: Patch, field: str) -> Iterator[Explained]:
    entries = patch.entries if isinstance(patch, Branch) else {}
    overrode = tuple(_lost(one) for one in patch.overrode)
    if not entries or overrode:
        value = json.dumps(plain(patch), ensure_ascii=False)
        yield Explained(field, value, place(patch.written[-1].origin), overrode)
    for index, (key, entry) in enumerate(entries.items()):
        yield from _values(entry, _below(field, patch, index, key))


def _removed(patch: Patch, field: str) -> Iterator[Explained]:
    if not isinstance(patch, Branch):
        return
    if not patch.replaces:
        for key, origin in patch.removed.items():
            if key not in patch.entries:
                name = f"{field}[{key}]" if patch.is_list else _joined(field, key)
                yield Explained(name, "removed", place(origin))
    for index, (key, entry) in enumerate(patch.entries.items()):
        yield from _removed(entry, _below(field, patch, index, key))


def _lost(written: Written) -> Overridden:
    """A list or mapping is told by its shape only: its entries are in the file."""
    value = written.origin.document.value
    for part in written.origin.field:
        value = value[part]
    if isinstance(value, list | dict):
        return Overridden("[...]" if isinstance(value, list) else "{...}", place(written.origin))
    return Overridden(_json(value), place(written.origin))


def _below(field: str, patch: Patch, index: int, key: str) -> str:
    if not isinstance(patch, Branch) or not patch.is_list:
        return _joined(field, key)
    entry = patch.entries[key]
    named = isinstance(entry, Branch) and any(one in entry.entries for one in IDENTITIES)
    return f"{field}[{key if named else index}]"


def _joined(field: str, key: str) -> str:
    return f"{field}.{key}" if field else key


def _defaults(document: Merged, model: BaseModel, at: tuple[str | int, ...]) -> Iterator[Explained]:
    """Yield what the schema adds: fields of the model that no file has, except those that stand for nothing."""
    for name in type(model).model_fields:
        value, field = getattr(model, name), (*at, name)
        if isinstance(value, BaseModel) and field in document.patches:
            yield from _defaults(document, value, field)
        elif field not in document.patches and value not in (None, (), {}):
            shown = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
            yield Explained(".".join(map(str, field)), _json(shown), "default")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
