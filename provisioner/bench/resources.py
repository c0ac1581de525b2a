"""Which resources every client of a bench reads of one BMC: what the product's own inventory reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EXPAND_QUERY = "?$expand=.($levels=1)"


@dataclass(frozen=True, slots=True)
class Resources:
    """Paths on each BMC of one persona. `collections`: path -> its members; `expands`: the root offers `$expand`."""

    singles: tuple[str, ...]
    collections: Mapping[str, tuple[str, ...]]
    expands: bool

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them, each once: one GET per resource."""
        members = [path for listed in self.collections.values() for path in listed]
        return tuple(dict.fromkeys([*self.singles, *self.collections, *members]))

    @property
    def expanded(self) -> tuple[str, ...]:
        """The fewest GETs that bring all of them."""
        if not self.expands:
            return self.paths
        return (*self.singles, *(path + _EXPAND_QUERY for path in self.collections))


def resources_in(documents: Mapping[str, dict[str, Any]]) -> Resources:
    """Sort what one BMC answered, path -> document, into collections with their members, and the rest."""
    listed = {path: _members(document) for path, document in documents.items() if "Members" in document}
    members = {path for found in listed.values() for path in found}
    singles = tuple(path for path in documents if path not in listed and path not in members)
    features = documents.get("/redfish/v1", {}).get("ProtocolFeaturesSupported", {})
    return Resources(singles, listed, expands=bool(features.get("ExpandQuery", {}).get("NoLinks")))


def _members(document: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(member["@odata.id"]) for member in document["Members"])
