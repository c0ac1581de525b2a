"""Mirrors of one small image, made once for all tests; each test has copies of its own to break."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

from images.mirror.index import Asking, FetchedIndex, fetch_index
from images.mirror.patience import Patience
from images.mirror.source import Source
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock
from profiles.images.resolve import resolve
from tests.images.mirror.apt_repository import NOW, Signer, Suite
from tests.images.mirror.package_mirror import PackageMirror

QUICK = Patience(rounds=3, pause=timedelta(milliseconds=5), connect=timedelta(seconds=5), silence=timedelta(seconds=5))
ASKING = Asking(patience=QUICK, now=NOW)
FACTS = load_facts()


@dataclass
class MirrorSite:
    """A publisher's packages, an image that needs some of them, and a cache."""

    signer: Signer
    debs: Path
    root: Path
    cache: Path
    image: DebianImage

    def publish(self, suite: Suite | None = None, *debs: Path) -> None:
        """Write a suite, of all packages if none are given."""
        (suite or Suite()).write(self.root, debs or sorted(self.debs.glob("*.deb")), self.signer)

    def source(self, mirror: PackageMirror | str, **changed: object) -> Source:
        url = mirror if isinstance(mirror, str) else mirror.url
        return replace(Source(uri=url, keyring=self.signer.keyring), **changed)  # type: ignore[arg-type]  # any field

    def index(self, *sources: Source) -> FetchedIndex:
        return fetch_index(self.image, {"debian": sources}, self.cache, ASKING)

    def lock(self, fetched: FetchedIndex) -> Lock:
        found = resolve(self.image, fetched.index, FACTS, date(2026, 11, 30), keys=fetched.keys)
        assert isinstance(found, Lock), found
        return found


def in_release(site: MirrorSite) -> Path:
    """Return what the publisher signed."""
    return site.root / "dists" / "bookworm" / "InRelease"
