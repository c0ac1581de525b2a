"""An order of packages at mirrors."""

from pathlib import Path

from images.mirror.index import FetchedIndex
from images.mirror.packages import fetch_packages
from images.mirror.patience import Patience
from profiles.images.lock import Lock
from tests.images.mirror.package_mirror import PackageMirror
from tests.images.mirror.site import QUICK, MirrorSite


class Order:
    """What is to be fetched, from which mirrors, and what was reported."""

    def __init__(self, site: MirrorSite, *mirrors: PackageMirror | str) -> None:
        self.site = site
        self.fetched: FetchedIndex = site.index(*(site.source(one) for one in mirrors))
        self.lock: Lock = site.lock(self.fetched)
        self.reports: list[tuple[int, int, str]] = []

    def fetch(self, patience: Patience = QUICK, lock: Lock | None = None) -> Path:
        return fetch_packages(lock or self.lock, self.fetched.origins, self.site.cache, self.report, patience=patience)

    def report(self, done: int, total: int, name: str) -> None:
        self.reports.append((done, total, name))

    def parts(self) -> list[int]:
        return [path.stat().st_size for path in (self.site.cache / "parts").glob("*")]

    def kept(self) -> int:
        return len(list((self.site.cache / "packages").rglob("*.deb")))
