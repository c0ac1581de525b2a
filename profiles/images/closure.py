"""What packages depend on, until nothing is missing.

Alternatives are taken in their order, and of each package the newest version that fits. Conflicts are left to the
package manager of the build, which installs the locked list or fails.
"""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from profiles.images.debian_version import compare_versions
from profiles.images.package_index import Package, PackageIndex

_RELATION = re.compile(r"([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)?\s*(?:\(\s*(<<|<=|=|>=|>>)\s*([^)\s]+)\s*\))?.*")


@dataclass(frozen=True, slots=True)
class Unmet:
    """A dependency that nothing meets."""

    package: str
    clause: str
    present: str | None


@dataclass(frozen=True, slots=True)
class Closure:
    """`packages` by name; `needed_by`: for each that was not asked for, the one that brought it."""

    packages: Mapping[str, Package]
    needed_by: Mapping[str, str]
    unmet: tuple[Unmet, ...]


def close_over(roots: Mapping[str, Package], index: PackageIndex, left_out: frozenset[str]) -> Closure:
    """Return the roots with everything they need; `left_out` is never taken. Pure: equal input, equal answer."""
    search = _Search(dict(roots), index, left_out)
    search.run()
    return Closure(dict(sorted(search.chosen.items())), search.needed_by, tuple(search.unmet))


class _Search:
    def __init__(self, chosen: dict[str, Package], index: PackageIndex, left_out: frozenset[str]) -> None:
        self.chosen = chosen
        self.needed_by: dict[str, str] = {}
        self.unmet: list[Unmet] = []
        self._index, self._left_out = index, left_out
        self._providers: dict[str, list[Package]] = {}
        for found in index.values():
            for name in found[0].provides:
                self._providers.setdefault(name, []).append(found[0])

    def run(self) -> None:
        waiting = deque(sorted(self.chosen.values(), key=lambda package: package.name))
        while waiting:
            package = waiting.popleft()
            for clause in (one.strip() for one in package.depends.split(",")):
                added = self._meet(package, clause) if clause else None
                if added is not None:
                    waiting.append(added)

    def _meet(self, package: Package, clause: str) -> Package | None:
        """Return the package that has to be added for one clause; None where it is met, or where nothing meets it."""
        alternatives = [found.groups() for one in clause.split("|") if (found := _RELATION.fullmatch(one.strip()))]
        if any(self._is_met(name, relation, version) for name, relation, version in alternatives):
            return None
        for name, relation, version in alternatives:
            candidate = self._candidate(name, relation, version)
            if candidate is not None:
                self.chosen[candidate.name] = candidate
                self.needed_by[candidate.name] = package.name
                return candidate
        present = [f"{name} {self.chosen[name].version}" for name, _, _ in alternatives if name in self.chosen]
        self.unmet.append(Unmet(package.name, clause, present[0] if present else None))
        return None

    def _is_met(self, name: str, relation: str | None, version: str | None) -> bool:
        if name in self.chosen:
            return _fits(self.chosen[name].version, relation, version)
        return any(_provides(package, name, relation, version) for package in self.chosen.values())

    def _candidate(self, name: str, relation: str | None, version: str | None) -> Package | None:
        if name in self._left_out or name in self.chosen:
            return None
        for package in self._index.get(name, ()):
            if _fits(package.version, relation, version):
                return package
        for package in self._providers.get(name, ()):
            free = package.name not in self._left_out and package.name not in self.chosen
            if free and _provides(package, name, relation, version):
                return package
        return None


def _provides(package: Package, name: str, relation: str | None, version: str | None) -> bool:
    """A name that is provided without a version meets no demand for one (Debian Policy 7.5)."""
    if name not in package.provides:
        return False
    provided = package.provides[name]
    return relation is None or (provided is not None and _fits(provided, relation, version))


def _fits(present: str, relation: str | None, version: str | None) -> bool:
    if relation is None or version is None:
        return True
    order = compare_versions(present, version)
    return {"<<": order < 0, "<=": order <= 0, "=": order == 0, ">=": order >= 0, ">>": order > 0}[relation]
