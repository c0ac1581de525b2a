"""Take in a bundle: when all of it is verified, its files, then the index, then what the names stand for."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from images.bundle.contents import IMAGE
from images.bundle.receive import Received, receive
from images.manifest import ImageManifest
from images.oci.index import change_index, read_index, replace_file
from images.oci.published import keep_image
from images.references import Reference, write_reference
from images.store import ArtefactAbsentError, ArtefactStore
from images.trust.folder import TrustFolder
from images.trust.keys import Role
from images.trust.repository import Signers, Target, renew_timestamp
from images.whole_files import sync_directory


@dataclass(frozen=True, slots=True)
class Site:
    """Who takes it in. `root`: what this site trusts; `signers`: its own timestamp key, if it has one."""

    data_dir: Path
    root: bytes
    signers: Signers

    @property
    def store(self) -> ArtefactStore:
        """Files by digest."""
        return ArtefactStore(self.data_dir / "artefacts")

    @property
    def trust(self) -> TrustFolder:
        """Signed metadata."""
        return TrustFolder(self.data_dir / "trust")


@dataclass(frozen=True, slots=True)
class Admitted:
    """What is there now. `renewed`: the site has signed a timestamp of its own."""

    targets: Mapping[str, Target]
    renewed: bool


def admit(path: Path, site: Site, now: datetime, until: datetime) -> Admitted:
    """Take in a bundle, or nothing of it. The same one again, also after a kill, ends the same.

    The site's own timestamp says until `until` that what the bundle signed still holds. Raises BundleError, TrustError,
    ArtefactError and OSError.
    """
    store = site.store
    with _alone(store.root / "incoming"):
        received = receive(path, store, site.trust, site.root)
        timestamp = _timestamp(received, site, until)
        read_index(store)
        _move_files(received, store)
        _enter(received, store)
        _believe(received, site, timestamp)
        for name, target in received.targets.items():
            if name.startswith(IMAGE):
                _point(site, keep_image(store, target.digest), now)
        shutil.rmtree(received.folder)
    return Admitted(received.targets, bool(site.signers.get(Role.TIMESTAMP)))


def _move_files(received: Received, store: ArtefactStore) -> None:
    """Nobody finds them yet: nothing names them."""
    store.blobs.mkdir(parents=True, exist_ok=True)
    for digest in received.contents.sizes:
        staged = received.staged(digest)
        if staged.exists():
            with store.lock():
                staged.replace(store.blobs / digest.removeprefix("sha256:"))
        store.keep(digest)
    sync_directory(store.blobs)


def _enter(received: Received, store: ArtefactStore) -> None:
    with store.lock(alone=True):
        for digest, size_bytes in received.contents.sizes.items():
            if store.path(digest).stat().st_size != size_bytes:
                raise ArtefactAbsentError(f"{digest}: has another size than it had a moment ago; import again")
        change_index(store, add=received.contents.entries.values())


def _timestamp(received: Received, site: Site, until: datetime) -> bytes:
    """The bundle's, or one by the site's own key: newer than both that of the bundle and the last one here."""
    theirs, ours = received.tuf / "timestamp.json", site.trust.metadata / "timestamp.json"
    if not site.signers.get(Role.TIMESTAMP):
        return theirs.read_bytes()
    scratch = received.folder / "renewed"
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(received.tuf, scratch)
    if ours.exists() and _version(ours) > _version(theirs):
        shutil.copyfile(ours, scratch / ours.name)
    renew_timestamp(scratch, until, site.signers)
    return (scratch / ours.name).read_bytes()


def _version(timestamp: Path) -> int:
    return int(json.loads(timestamp.read_bytes())["signed"]["version"])


def _believe(received: Received, site: Site, timestamp: bytes) -> None:
    """What was seen of the publisher, then the metadata of the site; its timestamp comes last."""
    unfinished = site.store.unfinished
    for path in received.seen.rglob("*"):
        if path.is_file() and not path.is_symlink():
            replace_file(site.trust.seen / path.relative_to(received.seen), path.read_bytes(), unfinished)
    metadata = site.trust.metadata
    for path in sorted(received.tuf.iterdir()):
        if path.name != "timestamp.json":
            replace_file(metadata / path.name, path.read_bytes(), unfinished)
    replace_file(metadata / "timestamp.json", timestamp, unfinished)


def _point(site: Site, manifest: ImageManifest, now: datetime) -> None:
    made_from = manifest.made_from
    if "profile" in made_from:
        reference = Reference(
            name=manifest.name,
            image=manifest.digest,
            profile_digest=made_from["profile"],
            lock_digest=made_from["lock"],
            build_key="imported",
            built_at=now.isoformat(timespec="seconds"),
        )
        write_reference(site.data_dir, reference)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One import at a time; a process that dies gives the lock back."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder.parent / ".import.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
