"""A recorded tree: the JSON that a real BMC returned, in the layout that DMTF's Redfish-Mockup-Server reads."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from emulator.errors import ConfigError
from emulator.tree.document import ROOT, Document, Entry

_INDEX = "index.json"
_MOST_RESOURCES = 100_000


class Recording:
    """The documents by path, in any case and without a trailing slash, as links of real BMCs disagree."""

    def __init__(self, entries: Mapping[str, Document]) -> None:
        """`entries` by path."""
        self.entries = entries
        self._folded = {path.lower(): document for path, document in entries.items()}

    def __iter__(self) -> Iterator[Entry]:
        """Every path with its document."""
        return iter(self.entries.items())

    def get(self, path: object) -> Document:
        """The resource at `path` (or of a reference to it); empty when there is none."""
        if isinstance(path, dict):
            path = path.get("@odata.id")
        return self._folded.get(path.rstrip("/").lower(), {}) if isinstance(path, str) else {}

    def members(self, path: object) -> list[Document]:
        """The members of the collection at `path` that were recorded."""
        found = [self.get(member) for member in self.get(path).get("Members", [])]
        return [document for document in found if document]

    def allowed(self, action: Mapping[str, Any], parameter: str) -> tuple[str, ...]:
        """The allowable values of a parameter, from the action itself or from its ActionInfo."""
        direct = action.get(f"{parameter}@Redfish.AllowableValues")
        if isinstance(direct, list):
            return tuple(map(str, direct))
        listed = self.get(action.get("@Redfish.ActionInfo")).get("Parameters", [])
        found = [one.get("AllowableValues") or [] for one in listed if one.get("Name") == parameter]
        return tuple(str(value) for values in found for value in values)


def read_recording(directory: Path) -> Recording:
    """Read every index.json below `directory`. Raises ConfigError for what is no recorded tree."""
    base = directory / ROOT.strip("/")
    if not (base / _INDEX).is_file():
        raise ConfigError(f"{directory}: no recorded tree, there is no {ROOT.strip('/')}/{_INDEX} in it")
    entries: dict[str, Document] = {}
    for file in sorted(base.rglob(_INDEX)):
        path = "/" + unquote(file.parent.relative_to(directory).as_posix())
        entries[path] = _read(file)
        if len(entries) > _MOST_RESOURCES:
            raise ConfigError(f"{directory}: more than {_MOST_RESOURCES} resources")
    return Recording(entries)


def _read(file: Path) -> Document:
    try:
        document = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(f"{file}: not a JSON object")
    return document
