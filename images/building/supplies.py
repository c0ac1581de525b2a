"""Packages for a build: from the site's mirrors, and from the stage that builds kernel modules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from images.boot_program.signing import SigningPair
from images.building.failures import BuildFailedError, ImageRefusedError
from images.building.request import Report
from images.mirror.cache import MirrorCache
from images.mirror.errors import MirrorError
from images.mirror.index import Asking, FetchedIndex, fetch_index
from images.mirror.packages import fetch_packages
from images.mirror.source import Sources
from images.modules.errors import ModuleError
from images.modules.repository import ModuleSupply, repository_with_modules
from profiles.compat.facts import CompatibilityFacts
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock
from profiles.images.resolve import Refused, resolve


@dataclass(frozen=True, slots=True)
class SiteSupplies:
    """`sources`: the site's mirrors by name. `signing`: its keys by name, `certificates`: of these (PEM).

    `cache`: what was fetched stays there. `on`: the day for which support of the driver is judged.
    """

    image: DebianImage
    sources: Sources
    cache: Path
    facts: CompatibilityFacts
    on: date
    signing: Mapping[str, SigningPair] = field(default_factory=dict)
    certificates: Mapping[str, str] = field(default_factory=dict)
    _fetched: list[FetchedIndex] = field(default_factory=list)

    def resolve(self, report: Report) -> Lock:
        """Ask the mirrors and choose every package."""
        offered = self._index(report)
        found = resolve(
            self.image, offered.index, self.facts, self.on, keys=offered.keys, certificates=self.certificates
        )
        if isinstance(found, Refused):
            raise ImageRefusedError(found.reasons)
        return found

    def fetch(self, lock: Lock, report: Report) -> Path:
        """Return a repository of the lock's packages; kernel modules that have to be built are among them."""
        supply = ModuleSupply(
            fetch=lambda wanted: self._packages(wanted, report),
            keys=self.signing,
            cache=self.cache / "modules",
            say=report.say,
        )
        try:
            return repository_with_modules(lock, supply)
        except ModuleError as error:
            raise BuildFailedError(str(error)) from error

    def _packages(self, lock: Lock, report: Report) -> Path:
        here = MirrorCache(self.cache)
        complete = all(here.package(one.sha256).exists() for one in lock.packages)
        origins = {} if complete else self._index(report).origins
        try:
            return fetch_packages(lock, origins, self.cache, lambda done, total, _: report.progress(done, total))
        except MirrorError as error:
            hint = "" if complete else "\na mirror keeps no old versions: --update chooses from what it has now"
            raise BuildFailedError(f"{error}{hint}") from error

    def _index(self, report: Report) -> FetchedIndex:
        """What the mirrors offer, asked for once."""
        if not self._fetched:
            asking = Asking(report=lambda done, total, _: report.progress(done, total))
            try:
                found = fetch_index(self.image, self.sources, self.cache, asking)
            except MirrorError as error:
                raise BuildFailedError(str(error)) from error
            for note in found.notes:
                report.say(note)
            self._fetched.append(found)
        return self._fetched[0]
