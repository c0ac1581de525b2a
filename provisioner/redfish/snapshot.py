"""Documents that were fetched, readable by sushy's resource classes without any I/O."""

from dataclasses import dataclass
from typing import Any

from multidict import CIMultiDict
from sushy import exceptions

from provisioner.redfish.answer import Answer

Document = dict[str, Any]
Members = list[tuple[str, Document]]
"""A collection's members by their paths, in the BMC's order."""


def folded(path: str) -> str:
    """One key for what BMCs write in several ways: HPE links `/redfish/v1/systems/1/bios/` to `.../Systems/1/Bios`."""
    return path.partition("?")[0].partition("#")[0].rstrip("/").lower()


@dataclass(frozen=True, slots=True)
class HeldAnswer(Answer):
    """An answer whose document is there already."""

    document: Document

    def json(self) -> Document:
        """The document itself, not a copy."""
        return self.document


class Snapshot:
    """`{path: document}` of one BMC; paths compare folded. Also the connector that sushy reads it through."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._documents: dict[str, Document] = {}
        self._members: dict[str, Members] = {}

    def add(self, path: str, document: Document) -> None:
        """Keep `document` as what `path` answered."""
        self._documents[folded(path)] = document

    def add_members(self, path: str, members: Members) -> None:
        """Keep what the members of the collection at `path` answered; `document` does not find them one by one."""
        self._members[folded(path)] = members

    def document(self, path: str | None) -> Document | None:
        """What `path` answered; None when it was not asked or had nothing."""
        return self._documents.get(folded(path)) if path else None

    def members(self, path: str | None) -> Members:
        """Path and document of each member of a collection that was fetched, in the BMC's order."""
        return self._members.get(folded(path), []) if path else []

    def get(self, path: str = "", **_: object) -> Answer:
        """As sushy's connector: an answer with the document, or sushy's own not-found error."""
        found = self.document(path)
        if found is None:
            raise exceptions.ResourceNotFoundError("GET", path, Answer(404, CIMultiDict(), b"{}"))
        return HeldAnswer(200, CIMultiDict(), b"{}", found)  # sushy takes an empty body for an empty document


def link(document: Document | None, *names: str) -> str | None:
    """The `@odata.id` under `names`, such as `Links`, `Sessions`; None when any part is missing."""
    at: Any = document
    for name in (*names, "@odata.id"):
        at = at.get(name) if isinstance(at, dict) else None
    return at if isinstance(at, str) and at else None


def links(document: Document | None, *names: str) -> tuple[str, ...]:
    """All `@odata.id`s of the list under `names`; a single object counts as a list of one."""
    at: Any = document
    for name in names:
        at = at.get(name) if isinstance(at, dict) else None
    found = at if isinstance(at, list) else [at]
    return tuple(path for path in (link(one) for one in found if isinstance(one, dict)) if path)


def text(document: Document, name: str) -> str:
    """A property without the space around it; empty when it is missing or no text."""
    value = document.get(name)
    return value.strip() if isinstance(value, str) else ""
