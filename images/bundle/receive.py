"""Read a bundle into a place of its own, and believe nothing of it before it is verified.

First the signed metadata, from the site's own root; then each file by its digest, if something signed names it. What
was received stays for the next try when the bundle is cut off, or the import is killed.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from images.bundle.archive import Member, Reader
from images.bundle.contents import HEAD, IMAGE, INDEX, Contents, blob_name, parse_head
from images.bundle.errors import COPY_AGAIN, EXPORT_AGAIN, BundleError
from images.digest import Digest, hex_of, parse_digest
from images.manifest import ManifestError, parse_manifest
from images.oci.index import LARGEST_MANIFEST_BYTES, LAYOUT, parse_index
from images.oci.published import STATEMENT_TYPE
from images.store import ArtefactError, ArtefactStore
from images.trust.client import trusted_targets
from images.trust.errors import MetadataExpiredError, TrustError
from images.trust.folder import TrustFolder, copy_seen
from images.trust.repository import Target, files_of

_MOST_METADATA = 300
_MOST_METADATA_BYTES = 32 * 2**20
_MOST_STATEMENTS = 10_000
_BLOBS = "blobs/sha256/"
_ROLES = ("timestamp", "snapshot", "targets", "root")


@dataclass(slots=True)
class Received:
    """A bundle that was read. `folder`: its own; `tuf` and `seen` below it; files by their hex digits in `blobs`."""

    folder: Path
    targets: Mapping[str, Target]
    """The names that it brings."""
    contents: Contents
    arrived: set[Digest] = field(default_factory=set)

    def staged(self, digest: Digest) -> Path:
        """Where a file of it lies, if the store had not got it already."""
        return self.folder / f"blob-{hex_of(digest)}"

    @property
    def tuf(self) -> Path:
        """Its signed metadata."""
        return self.folder / "tuf"

    @property
    def seen(self) -> Path:
        """What the site has seen of the publisher, this bundle included."""
        return self.folder / "seen"


def receive(path: Path, store: ArtefactStore, trust: TrustFolder, root: bytes) -> Received:
    """Read and verify all of it. `root`: the site's own. Blocks; one process at a time.

    Raises BundleError, OSError and ArtefactError.
    """
    with path.open("rb") as file:
        reader = Reader(file)
        members = reader.members()
        head, metadata, first = _signed_part(reader, members)
        folder = store.root / "incoming" / _key(head, metadata)
        received = _opened(folder, head, metadata, trust, root)
        _check_space(path, store)
        _layout_part(first, reader, members, received)
        for member in members:
            _take_blob(member, reader, received, store)
    _complete(received, store)
    return received


def _signed_part(reader: Reader, members: Iterator[Member]) -> tuple[bytes, Mapping[str, bytes], Member]:
    """The head and the metadata, and the member that comes behind them."""
    head: bytes | None = None
    metadata: dict[str, bytes] = {}
    for member in members:
        if head is None:
            if member.name != HEAD:
                raise BundleError(member.name, f"comes before {HEAD}: this is no bundle", EXPORT_AGAIN)
            head = _small(member, reader)
        elif not member.name.startswith("tuf/"):
            return head, metadata, member
        elif len(metadata) == _MOST_METADATA or sum(map(len, metadata.values())) > _MOST_METADATA_BYTES:
            raise BundleError(member.name, "is more metadata than a bundle has", EXPORT_AGAIN)
        else:
            metadata[member.name.removeprefix("tuf/")] = _small(member, reader)
    raise BundleError(HEAD if head is None else INDEX, "is not there", EXPORT_AGAIN)


def _opened(folder: Path, head: bytes, metadata: Mapping[str, bytes], trust: TrustFolder, root: bytes) -> Received:
    """Verify what the metadata says; what an earlier try has received of the same bundle stays."""
    received = Received(folder, {}, Contents({}))
    for scratch in (received.tuf, received.seen):
        shutil.rmtree(scratch, ignore_errors=True)
    received.tuf.mkdir(parents=True)
    for name, content in metadata.items():
        (received.tuf / name).write_bytes(content)
    copy_seen(trust.seen, received.seen)
    try:
        targets = trusted_targets(received.tuf, received.seen, root)
    except TrustError as error:
        raise _distrust(error, metadata) from error
    _refuse_unverified(metadata, received)
    received.targets = parse_head(head, targets)
    received.contents = Contents({one.digest: one.size_bytes for one in received.targets.values()})
    return received


def _refuse_unverified(metadata: Mapping[str, bytes], received: Received) -> None:
    """A client reads what it needs: the first root is the site's own, and other files may be anything."""
    verified = {path.name: path.read_bytes() for path in (received.seen / "root_history").iterdir()}
    for path in files_of(received.tuf)[-3:-1]:
        verified[path.name] = (received.seen / path.name.partition(".")[2]).read_bytes()
    verified["timestamp.json"] = (received.seen / "timestamp.json").read_bytes()
    for name, content in metadata.items():
        if verified.get(name) != content:
            remedy = f"{COPY_AGAIN}; or ask who made the bundle"
            raise BundleError(f"tuf/{name}", "is not what this site has verified: it is damaged or foreign", remedy)


def _distrust(error: TrustError, metadata: Mapping[str, bytes]) -> BundleError:
    text = str(error).rpartition(": is not trusted: ")[2]
    said = text.lower()
    role = next((one for one in _ROLES if one in said), "metadata")
    member = "tuf/" + next((name for name in metadata if name.endswith(f"{role}.json")), f"{role}.json")
    if isinstance(error, MetadataExpiredError):
        remedy = "sign anew with `firstlight bundle sign` at its origin and export again; is the clock here right?"
        return BundleError(member, "its signatures have expired", remedy)
    if "must be >=" in said or "version" in said:
        remedy = "get a newer bundle; to return to an older image, sign its digest again: `firstlight bundle sign`"
        return BundleError(member, f"is older than what this site has seen ({text})", remedy)
    remedy = "ask who gave you the bundle who signed it; this site believes the root in its own 1.root.json alone"
    return BundleError(member, f"is not signed by whom this site trusts ({text})", remedy)


def _layout_part(first: Member, reader: Reader, members: Iterator[Member], received: Received) -> None:
    if first.name != "oci-layout" or _small(first, reader) != LAYOUT:
        raise BundleError(first.name, "is not the oci-layout that comes here", EXPORT_AGAIN)
    member = next(members, None)
    if member is None or member.name != INDEX:
        raise BundleError(INDEX, "does not come behind oci-layout", EXPORT_AGAIN)
    try:
        entries = parse_index(_small(member, reader))
    except ValueError as error:
        raise BundleError(INDEX, f"is no index of an OCI image layout: {error}", EXPORT_AGAIN) from error
    statements = [one for one in entries if one.artifact_type == STATEMENT_TYPE]
    if len(statements) > _MOST_STATEMENTS:
        raise BundleError(INDEX, f"names more than {_MOST_STATEMENTS} statements", EXPORT_AGAIN)
    for one in statements:
        if not 0 < one.size_bytes <= LARGEST_MANIFEST_BYTES:
            raise BundleError(INDEX, f"{one.digest}: has {one.size_bytes} bytes", EXPORT_AGAIN)
        received.contents.sizes.setdefault(one.digest, one.size_bytes)


def _take_blob(member: Member, reader: Reader, received: Received, store: ArtefactStore) -> None:
    if not member.name.startswith(_BLOBS):
        raise BundleError(member.name, "stands among the files of images", EXPORT_AGAIN)
    digest = parse_digest(f"sha256:{member.name.removeprefix(_BLOBS)}")
    named = received.contents.sizes.get(digest)
    if named is None:
        raise BundleError(member.name, "nothing that is signed names it", EXPORT_AGAIN)
    if named != member.size_bytes:
        raise BundleError(member.name, f"has {member.size_bytes} bytes; its manifest says {named}", EXPORT_AGAIN)
    path = _here(digest, received, store)
    if path is None:
        path = _staged(digest, reader, received)
    else:
        reader.skip()
    received.contents.arrived(digest, path)
    received.arrived.add(digest)


def _here(digest: Digest, received: Received, store: ArtefactStore) -> Path | None:
    """From an earlier try, or in the store already; every byte is read again."""
    staged = received.staged(digest)
    if staged.exists() and _sha256(staged) == hex_of(digest):
        return staged
    try:
        return store.verify(digest)
    except ArtefactError:
        return None


def _staged(digest: Digest, reader: Reader, received: Received) -> Path:
    seen = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=received.folder, prefix="new-", delete=False) as new:
        try:
            for chunk in reader.chunks():
                seen.update(chunk)
                new.write(chunk)
            new.flush()
            os.fsync(new.fileno())
            if seen.hexdigest() != hex_of(digest):
                raise BundleError(blob_name(digest), "its bytes are not those of its name: it is damaged", COPY_AGAIN)
            Path(new.name).chmod(0o444)
            Path(new.name).replace(received.staged(digest))
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
    return received.staged(digest)


def _complete(received: Received, store: ArtefactStore) -> None:
    """What the bundle does not carry has to be in the store."""
    while missing := sorted(received.contents.sizes.keys() - received.arrived):
        for digest in missing:
            path = _here(digest, received, store)
            if path is None or path.stat().st_size != received.contents.sizes[digest]:
                remedy = f"{COPY_AGAIN}; or, if it was made without files, export it with them"
                raise BundleError(blob_name(digest), "is needed, and neither in the bundle nor in the store", remedy)
            received.contents.arrived(digest, path)
            received.arrived.add(digest)
    received.contents.check_subjects()
    for name, target in received.targets.items():
        if name.startswith(IMAGE):
            _check_image(name, target, _here(target.digest, received, store))


def _check_image(name: str, target: Target, path: Path | None) -> None:
    """It can be built upon and booted here, and is what its name says."""
    try:
        manifest = parse_manifest(path.read_bytes() if path else b"")
    except ManifestError as error:
        raise BundleError(blob_name(target.digest), f"{name}: {error}", "update Firstlight first") from error
    if f"{IMAGE}{manifest.name}" != name:
        raise BundleError(blob_name(target.digest), f"is an image of {manifest.name}, signed as {name}", EXPORT_AGAIN)


def _small(member: Member, reader: Reader) -> bytes:
    if member.size_bytes > LARGEST_MANIFEST_BYTES:
        raise BundleError(member.name, f"has {member.size_bytes} bytes, too many", EXPORT_AGAIN)
    return b"".join(reader.chunks())


def _check_space(path: Path, store: ArtefactStore) -> None:
    free, needed = shutil.disk_usage(store.root).free, path.stat().st_size
    if free < needed:
        raise BundleError(path.name, f"needs up to {needed} bytes, and {store.root} has {free}", "make room")


def _key(head: bytes, metadata: Mapping[str, bytes]) -> str:
    seen = hashlib.sha256(head)
    for name in sorted(metadata):
        seen.update(f"\n{name} {len(metadata[name])}\n".encode())
        seen.update(metadata[name])
    return seen.hexdigest()[:32]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
