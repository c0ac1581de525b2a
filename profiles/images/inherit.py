"""Which profiles a profile inherits from, in which order, and what comes out of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.images.merged import Merged, merged_document
from profiles.images.patch import Branch, Origin, Patch, compose, vain_removals, without
from profiles.images.patch_source import read_patch
from profiles.yaml_source import Located

DEPTH_LIMIT = 8
OWN = frozenset({"name", "description", "abstract", "extends"})
"""Keys that speak of the profile itself: nobody inherits them."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """A profile with everything from its chain: the names from the eldest to itself."""

    document: Merged
    chain: tuple[str, ...]


def inherit(documents: Mapping[str, Located], unreadable: frozenset[str]) -> tuple[dict[str, Inherited], list[Finding]]:
    """Return what each document is with its parents, and everything that is wrong with parents and markers.

    `unreadable` are files that have findings of their own: who inherits from them is left out without another one.
    """
    family = _Family(documents, unreadable)
    merged = {}
    for name in documents:
        chain = family.chain(name)
        if chain:
            merged[name] = Inherited(family.merge(chain), chain)
    return merged, family.findings


class _Family:
    """All profiles with their parents. Every mistake is told once, whoever inherits it."""

    def __init__(self, documents: Mapping[str, Located], unreadable: frozenset[str]) -> None:
        self.findings: list[Finding] = []
        self._documents = documents
        self._bad = set(unreadable)
        self._told: set[frozenset[str]] = set()
        self._patches: dict[str, Branch] = {}
        for name, document in documents.items():
            try:
                self._patches[name] = read_patch(document)
            except ProfileError as error:
                self._bad.add(name)
                self.findings.extend(error.findings)
        self._parents = {name: tuple(self._read_parents(name)) for name in self._patches}
        for name in sorted(self._patches, key=lambda name: (self._is_parent(name), name)):
            self._walk((name,))

    def chain(self, name: str) -> tuple[str, ...]:
        """Each ancestor once, before all who inherit from it, and the profile last; empty where one cannot be used."""
        order: dict[str, None] = {}
        return tuple(order) if self._visit(name, order, frozenset()) else ()

    def merge(self, chain: tuple[str, ...]) -> Merged:
        *ancestors, name = chain
        own = self._patches[name]
        patch: Patch | None = None
        for newer in [*(without(self._patches[one], OWN) for one in ancestors), own]:
            if patch is not None and not own.entries.get("abstract"):
                self._find_vain_removals(patch, newer)
            patch = newer if patch is None else compose(patch, newer)
        if not isinstance(patch, Branch):
            raise TypeError(f"{name} is not a mapping")
        return merged_document(self._documents[name], patch)

    def _visit(self, name: str, order: dict[str, None], above: frozenset[str]) -> bool:
        if name in above or name in self._bad or name not in self._patches or len(above) >= DEPTH_LIMIT:
            return False
        for parent in self._parents[name]:
            if not self._visit(parent, order, above | {name}):
                return False
        order.setdefault(name)
        return True

    def _read_parents(self, name: str) -> Iterator[str]:
        document = self._documents[name]
        parents = document.value.get("extends", [])
        if not isinstance(parents, list) or not all(isinstance(parent, str) for parent in parents):
            self._refuse(name, document.finding(("extends",), "must be a list of names", "write extends: [name]"))
            return
        yield from dict.fromkeys(parents)

    def _is_parent(self, name: str) -> bool:
        return any(name in parents for parents in self._parents.values())

    def _walk(self, path: tuple[str, ...]) -> None:
        """Look at every way up from the profiles that nobody inherits from, then from the others (cycles)."""
        name = path[-1]
        for index, parent in enumerate(self._parents[name]):
            finding = self._wrong(path, index, parent)
            if finding is None and parent in self._patches:
                self._walk((*path, parent))

    def _wrong(self, path: tuple[str, ...], index: int, parent: str) -> Finding | None:
        """Tell what is wrong with one parent, once for each edge and once for each circle."""
        document, way = self._documents[path[-1]], " -> ".join((*path, parent))
        edge, message, hint = frozenset({path[-1], f"^{parent}"}), "", "take one of them out"
        if parent in path:
            circle = path[path.index(parent) :]
            edge, message = frozenset(circle), f"goes round in a circle: {' -> '.join((*circle, parent))}"
        elif len(path) >= DEPTH_LIMIT:
            message = f"makes more than {DEPTH_LIMIT} profiles in a row: {way}"
        elif parent not in self._documents and parent not in self._bad:
            message = f"there is no images/{parent}.yaml ({way})"
            hint = did_you_mean(parent, self._documents) or f"write images/{parent}.yaml"
        if not message:
            return None
        finding = document.finding(("extends", index), message, hint)
        if edge not in self._told:
            self._told.add(edge)
            self._refuse(path[-1], finding)
        return finding

    def _refuse(self, name: str, finding: Finding) -> None:
        self._bad.add(name)
        self.findings.append(finding)

    def _find_vain_removals(self, older: Patch, newer: Patch) -> None:
        for origin, key, there in vain_removals(older, newer):
            finding = _vain(origin, key, there)
            if finding not in self.findings:
                self.findings.append(finding)


def _vain(origin: Origin, key: str, there: tuple[str, ...]) -> Finding:
    message = f'there is no inherited "{key}" to remove'
    return origin.document.finding(origin.field, message, did_you_mean(key, there))
