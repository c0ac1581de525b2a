"""Which BMCs can be asked for a collection with its members in one answer (DSP0266 "$expand").

Claimed is not proven: for each collection of each edition (vendor, product, version, firmware) one comparison with the
plain reads decides, and what misbehaves later loses the trust again. Verdicts live as long as the process.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from provisioner.redfish.snapshot import Document, folded

QUERY = "?$expand=.($levels=1)"
PATIENCE_SECONDS = 30.0
STABLE = ("Id", "Name", "@odata.type", "Version", "Model", "SerialNumber", "ProcessorType", "UUID", "Manufacturer")


class ExpandVerdicts:
    """True, False, or not known yet, per edition and name of the collection (`Processors`, `FirmwareInventory`)."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._verdicts: dict[tuple[str, str], bool] = {}
        self._first: dict[tuple[str, str], asyncio.Event] = {}

    def of(self, edition: str, path: str, root: Document) -> bool | None:
        """Whether the collection at `path` expands there; None: offered, but not proven."""
        return self._verdicts.get((edition, _name(path))) if offered(root) else False

    @asynccontextmanager
    async def probing(self, edition: str, path: str, root: Document) -> AsyncIterator[bool | None]:
        """Gives the verdict. Where there is none, the first to come probes while the others wait for what it finds.

        Two hundred servers of one kind, plugged in at once, would otherwise all be read the long way. They wait only
        for the first one, and half a minute at most.
        """
        key = (edition, _name(path))
        verdict = self.of(edition, path, root)
        if verdict is None and key in self._first:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._first[key].wait(), PATIENCE_SECONDS)
            verdict = self.of(edition, path, root)
        elif verdict is None:
            self._first[key] = asyncio.Event()
        try:
            yield verdict
        finally:
            if key in self._first:
                self._first[key].set()

    def settle(self, edition: str, path: str, *, works: bool) -> None:
        """Remember what a probe or a later failure has shown."""
        self._verdicts[edition, _name(path)] = works


def offered(root: Document) -> bool:
    """The service root says that one level of members can be expanded."""
    features = root.get("ProtocolFeaturesSupported")
    expand: Any = features.get("ExpandQuery") if isinstance(features, dict) else None
    return isinstance(expand, dict) and bool(expand.get("Levels")) and bool(expand.get("NoLinks"))


def members_of(collection: Document) -> list[tuple[str, Document]] | None:
    """Path and document of each member of an expanded answer; None when it is not really expanded."""
    listed = collection.get("Members")
    if not isinstance(listed, list) or not all(isinstance(member, dict) for member in listed):
        return None
    paths = [member.get("@odata.id") for member in listed]
    if not all(isinstance(path, str) and path for path in paths):
        return None
    if collection.get("Members@odata.count", len(listed)) != len(listed):
        return None
    if any(len(member) < 3 for member in listed):  # bare links, or hardly more
        return None
    return list(zip(paths, listed, strict=True))


def same(plain: list[tuple[str, Document]], expanded: list[tuple[str, Document]]) -> bool:
    """The expanded answer holds what the plain reads held: the same members, no property less, stable ones equal."""
    found = {folded(path): document for path, document in expanded}
    if len(found) != len(plain):
        return False
    for path, document in plain:
        other = found.get(folded(path))
        if other is None or not _keys(document) <= _keys(other):
            return False
        if any(document.get(name) != other.get(name) for name in STABLE):
            return False
    return True


def _name(path: str) -> str:
    return folded(path).rpartition("/")[2]


def _keys(document: Document) -> set[str]:
    return {key for key in document if not key.startswith("@odata.")}
