"""From one YAML document to the patch that it stands for, with everything that is wrong with its markers."""

import json
from collections.abc import Iterator
from typing import Any

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.images.patch import Branch, Leaf, Origin, Patch, Written
from profiles.validation import spoken
from profiles.yaml_source import FieldPath, Located

REPLACE, REMOVE = "$replace", "$remove"
MARKERS = (REPLACE, REMOVE)
IDENTITIES = ("name", "path", "id", "key")
"""What tells the records of a list apart: the first of these that a record has. Without any, all of it does."""


def read_patch(document: Located) -> Branch:
    """Return the document as a patch; raise ProfileError with every marker that says nothing."""
    if not isinstance(document.value, dict):
        raise ProfileError([document.finding((), f"must be a mapping (key: value), not {spoken(document.value)}")])
    reading = _Reading(document)
    patch = reading.mapping(document.value, ())
    if reading.findings or not isinstance(patch, Branch):
        raise ProfileError(reading.findings)
    return patch


def identity(item: Any) -> str:
    """Return what makes two items of a list the same one."""
    if isinstance(item, dict):
        for key in IDENTITIES:
            if key in item:
                return identity(item[key])
    return item if isinstance(item, str) else json.dumps(item, sort_keys=True, ensure_ascii=False)


class _Reading:
    """One pass over one document."""

    def __init__(self, document: Located) -> None:
        self.document = document
        self.findings: list[Finding] = []

    def value(self, value: Any, field: FieldPath) -> Patch:
        if isinstance(value, dict):
            return self.mapping(value, field)
        if isinstance(value, list):
            return self._list(value, field)
        if value is None:
            self._refuse(field, "has no value", f"write one, or take an inherited one away with {REMOVE}")
        return Leaf(value, self._written(field, value))

    def mapping(self, value: dict[str, Any], field: FieldPath) -> Patch:
        if REPLACE in value:
            return self._replacement(value, field)
        removed = dict(self._removed_keys(value, field))
        entries = {key: self.value(item, (*field, key)) for key, item in value.items() if key != REMOVE}
        for key in entries:
            if key.startswith("$"):
                self._refuse((*field, key), "is not a marker", did_you_mean(key, MARKERS), at_key=True)
            elif key in removed:
                self._refuse((*field, key), f"is removed and written: write {REPLACE} inside it", at_key=True)
        return Branch(is_list=False, entries=entries, written=self._written(field), removed=removed)

    def _list(self, value: list[Any], field: FieldPath) -> Branch:
        entries: dict[str, Patch] = {}
        removed: dict[str, Origin] = {}
        for index, item in enumerate(value):
            at = (*field, index)
            if isinstance(item, dict) and REMOVE in item:
                removed[identity(item[REMOVE])] = Origin(self.document, at)
                if len(item) > 1:
                    self._refuse(at, f"{REMOVE} stands alone in its item", "give the rest an item of its own")
                continue
            key = identity(item)
            if key in entries:
                self._refuse(at, f"{key} is there twice", "keep one of them")
            entries[key] = self.value(item, at)
        for key in entries.keys() & removed.keys():
            self._refuse(removed[key].field, f"{key} is removed and written", f"write the whole list below {REPLACE}")
        return Branch(is_list=True, entries=entries, written=self._written(field), removed=removed)

    def _replacement(self, value: dict[str, Any], field: FieldPath) -> Patch:
        at = (*field, REPLACE)
        if len(value) > 1:
            self._refuse(at, "stands alone in its mapping", "write everything below it", at_key=True)
        patch = self.value(value[REPLACE], at)
        if not isinstance(patch, Branch):
            self._refuse(at, "is for mappings and lists", "write the value itself: a later one wins", at_key=True)
            return patch
        return Branch(patch.is_list, patch.entries, patch.written, patch.removed, replaces=True)

    def _removed_keys(self, value: dict[str, Any], field: FieldPath) -> Iterator[tuple[str, Origin]]:
        keys = value.get(REMOVE, [])
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            self._refuse((*field, REMOVE), "must be a list of keys", f"write {REMOVE}: [key, key]")
            return
        for index, key in enumerate(keys):
            yield key, Origin(self.document, (*field, REMOVE, index))

    def _written(self, field: FieldPath, value: Any = None) -> tuple[Written, ...]:
        return (Written(value, Origin(self.document, field)),)

    def _refuse(self, field: FieldPath, message: str, hint: str = "", *, at_key: bool = False) -> None:
        self.findings.append(self.document.finding(field, message, hint, at_key=at_key))
