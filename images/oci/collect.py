"""Take away what nobody needs: images without a pin, what is said of them, and what dead writers have left."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from images.digest import Digest, parse_digest
from images.manifest import ManifestError
from images.oci.holdings import Holdings
from images.oci.index import Entry, change_index, entry_of, parts_of, read_index
from images.oci.published import STATEMENT_TYPE, parse_statement_manifest
from images.oci.reachability import Blob, Links, collectable
from images.store import ArtefactAbsentError, ArtefactStore
from images.whole_files import sync_directory

_LEFTOVER_GRACE = timedelta(hours=24)
"""Also where the grace of files is shorter: who writes a large file needs hours."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What went, or would go. `images`: of which all goes. `blobs`: all files, those of the images among them."""

    images: tuple[Entry, ...]
    blobs: tuple[Blob, ...]
    leftovers: tuple[Path, ...]
    """What writers that were killed have left."""
    leftover_bytes: int

    @property
    def size_bytes(self) -> int:
        """All together."""
        return sum(one.size_bytes for one in self.blobs) + self.leftover_bytes


def collect(
    store: ArtefactStore, holdings: Callable[[], Holdings], now: datetime, grace: timedelta, *, dry_run: bool = False
) -> Collected:
    """Take away what is neither held, nor reached from what is held, nor was wanted within the grace period.

    `holdings` is asked while nobody can put or publish: what it says holds until the end. One that raises lets nothing
    be taken. A collection that is killed leaves files that the next one takes; no image is ever left without its files.
    Raises IndexUnreadableError, ArtefactAbsentError.
    """
    if not store.root.is_dir():
        return Collected((), (), (), 0)
    read_index(store)
    with store.lock(alone=True):
        held = holdings()
        entries = read_index(store)
        goes = collectable(_blobs(store), _links(store, entries, held), held.pins.keys(), now, grace)
        digests = {one.digest for one in goes}
        leftovers = tuple(_leftovers(store, now, max(grace, _LEFTOVER_GRACE)))
        collected = Collected(
            images=tuple(one for one in entries if one.is_image and one.digest in digests),
            blobs=goes,
            leftovers=leftovers,
            leftover_bytes=sum(_size(one) for one in leftovers),
        )
        if not dry_run:
            _take(store, entries, collected)
        return collected


def _take(store: ArtefactStore, entries: tuple[Entry, ...], collected: Collected) -> None:
    """Out of the index first, then manifests, then their parts: whoever is killed leaves no image in pieces."""
    goes = {one.digest for one in collected.blobs}
    manifests = [one.digest for one in entries if one.digest in goes]
    if manifests:
        change_index(store, remove=manifests)
    for digests in (manifests, [one for one in goes if one not in set(manifests)]):
        for digest in digests:
            store.path(digest).unlink(missing_ok=True)
        if digests:
            sync_directory(store.blobs)
    for path in collected.leftovers:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _blobs(store: ArtefactStore) -> list[Blob]:
    found = []
    for path in store.blobs.glob("[0-9a-f]" * 64):
        known = path.stat()
        wanted_at = datetime.fromtimestamp(known.st_ctime, UTC)
        found.append(Blob(parse_digest(f"sha256:{path.name}"), known.st_size, wanted_at))
    return found


def _links(store: ArtefactStore, entries: tuple[Entry, ...], held: Holdings) -> Links:
    """What manifests say: those of the index, and those that are held without standing in it."""
    parts: dict[Digest, tuple[Digest, ...]] = {}
    about = dict(held.programs)
    for digest in {*(one.digest for one in entries), *held.pins}:
        try:
            path = store.path(digest)
        except ArtefactAbsentError:
            continue  # a pointer to what this site never had
        parts[digest] = _parts(path)
    for entry in entries:
        if entry.artifact_type == STATEMENT_TYPE:
            content = store.path(entry.digest).read_bytes()
            about[entry.digest] = parse_statement_manifest(content).subject
    return Links(parts, about)


def _parts(path: Path) -> tuple[Digest, ...]:
    """Those of a manifest; none of any other file."""
    with path.open("rb") as file:
        if file.read(1) != b"{":
            return ()
    content = path.read_bytes()
    if entry_of(parse_digest(f"sha256:{path.name}"), content) is None:
        return ()
    try:
        return tuple(parts_of(content))
    except ValueError as error:
        raise ManifestError(f"{path}: its files cannot be told ({error}); nothing is collected") from error


def _leftovers(store: ArtefactStore, now: datetime, grace: timedelta) -> list[Path]:
    found = [path for folder in (store.unfinished, store.root / "incoming") for path in folder.glob("*")]
    return [path for path in found if now - datetime.fromtimestamp(path.stat().st_ctime, UTC) >= grace]


def _size(path: Path) -> int:
    return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())
