"""TUF metadata of a site's releases: which digest a name stands for, signed (https://theupdateframework.github.io).

A return to an older digest is a new version that names the old one: versions never go back.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from securesystemslib.signer import Signer
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp
from tuf.api.serialization.json import JSONSerializer

from images.digest import Digest, hex_of, parse_digest
from images.trust.errors import TrustError
from images.trust.keys import Keyring, Role

T = TypeVar("T", Root, Snapshot, Targets, Timestamp)

Signers = Mapping[Role, Sequence[Signer]]
_COMPACT = JSONSerializer(compact=True)


@dataclass(frozen=True, slots=True)
class Target:
    """What a name stands for."""

    digest: Digest
    size_bytes: int
    custom: Mapping[str, Any]
    """JSON: hardware class, compatibility and the like; signed with the digest."""


@dataclass(frozen=True, slots=True)
class Expiries:
    """Until when what is signed now is good; whole seconds, UTC. Offline roles: months; online ones: days."""

    targets: datetime
    snapshot: datetime
    timestamp: datetime


def first_root(keyring: Keyring, expires: datetime, signers: Sequence[Signer]) -> bytes:
    """Version 1: what is shipped to every client. Raises `TrustError` when too few sign."""
    root = Root(version=1, expires=expires, consistent_snapshot=True)
    _enter(root, keyring)
    return _signed_root(root, signers, before=root)


def next_root(content: bytes, keyring: Keyring, expires: datetime, signers: Sequence[Signer]) -> bytes:
    """The next version, with other keys: signed by enough of the old root keys and of the new ones."""
    before = _read(content, Root)
    after = Root(version=before.version + 1, expires=expires, consistent_snapshot=True)
    _enter(after, keyring)
    return _signed_root(after, signers, before=before)


def add_root(folder: Path, content: bytes) -> None:
    """Put a root into the repository; versions follow each other. Raises `TrustError`."""
    version = _read(content, Root).version
    newest = _newest(folder, Role.ROOT)
    if version != newest + 1:
        raise TrustError(f"{folder}: root version {newest + 1} comes next, and not {version}")
    _create(folder / f"{version}.root.json", content)


def publish(folder: Path, targets: Mapping[str, Target], signers: Signers, expiries: Expiries) -> int:
    """Name these digests, and only these, in the next version; that version. Clients see all of it or nothing.

    Raises `TrustError` when too few sign; nothing is written then.
    """
    root = _root(folder)
    version = _newest(folder, Role.TARGETS) + 1
    files = {name: _target_file(name, one) for name, one in targets.items()}
    signed = Targets(version=version, expires=expiries.targets, targets=files)
    content = _sign(signed, Role.TARGETS, root, signers)
    snapshot = Snapshot(
        version=_newest(folder, Role.SNAPSHOT) + 1,
        expires=expiries.snapshot,
        meta={"targets.json": MetaFile.from_data(version, content, ["sha256"])},
    )
    snapshot_content = _sign(snapshot, Role.SNAPSHOT, root, signers)
    timestamp = _timestamp(folder, snapshot.version, snapshot_content, expiries.timestamp)
    timestamp_content = _sign(timestamp, Role.TIMESTAMP, root, signers)
    _create(folder / f"{version}.targets.json", content)
    _create(folder / f"{snapshot.version}.snapshot.json", snapshot_content)
    _replace(folder / "timestamp.json", timestamp_content)
    return version


def renew_timestamp(folder: Path, expires: datetime, signers: Signers) -> None:
    """Say that the newest snapshot still holds: all that an online or air-gapped site has to sign by itself.

    Raises `TrustError`.
    """
    version = _newest(folder, Role.SNAPSHOT)
    snapshot = _content(folder / f"{version}.snapshot.json")
    timestamp = _timestamp(folder, version, snapshot, expires)
    _replace(folder / "timestamp.json", _sign(timestamp, Role.TIMESTAMP, _root(folder), signers))


def published(folder: Path) -> Mapping[str, Target]:
    """What the newest version names, expired or not: the next one builds on it. Raises `TrustError`.

    For who signs; who believes asks `trusted_targets`.
    """
    if not (folder / "timestamp.json").exists():
        return {}
    path = files_of(folder)[-2]
    metadata: Metadata[Targets] = Metadata.from_bytes(_content(path))
    if not _root(folder).get_verification_result(Role.TARGETS, metadata.signed_bytes, metadata.signatures):
        raise TrustError(f"{path}: is not signed by enough keys of the root; restore {folder} from a backup")
    return targets_of(metadata.signed)


def files_of(folder: Path) -> tuple[Path, ...]:
    """All that a client without any metadata asks for: every root, then snapshot, targets, timestamp.

    Raises `TrustError`.
    """
    timestamp = folder / "timestamp.json"
    snapshot = folder / f"{_read(_content(timestamp), Timestamp).snapshot_meta.version}.snapshot.json"
    targets = folder / f"{_read(_content(snapshot), Snapshot).meta['targets.json'].version}.targets.json"
    roots = [folder / f"{number}.root.json" for number in range(1, _newest(folder, Role.ROOT) + 1)]
    return (*roots, snapshot, targets, timestamp)


def targets_of(signed: Targets) -> Mapping[str, Target]:
    """As we name them."""
    return {
        name: Target(parse_digest(f"sha256:{one.hashes['sha256']}"), one.length, one.custom or {})
        for name, one in signed.targets.items()
    }


def _enter(root: Root, keyring: Keyring) -> None:
    for role in Role:
        for key in keyring[role].keys:
            root.add_key(key, role)
        root.roles[role].threshold = keyring[role].threshold


def _signed_root(root: Root, signers: Sequence[Signer], before: Root) -> bytes:
    metadata = Metadata(root)
    for signer in signers:
        metadata.sign(signer, append=True)
    for keys, which in ((before, "old"), (root, "new")):
        result = keys.get_verification_result(Role.ROOT, metadata.signed_bytes, metadata.signatures)
        if not result:
            needed = f"{len(result.signed)} of the {result.threshold} signatures that it needs"
            raise TrustError(f"root version {root.version}: {needed} by the {which} root keys")
    return metadata.to_bytes(_COMPACT)


def _sign(signed: T, role: Role, root: Root, signers: Signers) -> bytes:
    metadata = Metadata(signed)
    for signer in signers.get(role, ()):
        metadata.sign(signer, append=True)
    result = root.get_verification_result(role, metadata.signed_bytes, metadata.signatures)
    if not result:
        needed = f"{len(result.signed)} of the {result.threshold} signatures that it needs"
        raise TrustError(f"{role} version {signed.version}: {needed} by keys of root version {root.version}")
    return metadata.to_bytes(_COMPACT)


def _timestamp(folder: Path, version: int, snapshot: bytes, expires: datetime) -> Timestamp:
    path = folder / "timestamp.json"
    last = _read(_content(path), Timestamp).version if path.exists() else 0
    return Timestamp(last + 1, expires=expires, snapshot_meta=MetaFile.from_data(version, snapshot, ["sha256"]))


def _target_file(name: str, target: Target) -> TargetFile:
    return TargetFile(target.size_bytes, {"sha256": hex_of(target.digest)}, name, {"custom": dict(target.custom)})


def _root(folder: Path) -> Root:
    return _read(_content(folder / f"{_newest(folder, Role.ROOT)}.root.json"), Root)


def _newest(folder: Path, role: Role) -> int:
    """The greatest version that is there; 0 for none."""
    names = [path.name.partition(".")[0] for path in folder.glob(f"*.{role}.json")]
    return max((int(name) for name in names if name.isascii() and name.isdecimal()), default=0)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TrustError(f"{path}: cannot be read: {error}") from error


def _read(content: bytes, kind: type[T]) -> T:
    try:
        metadata: Metadata[Any] = Metadata.from_bytes(content)
    except RepositoryError as error:
        raise TrustError(f"no TUF metadata: {error}") from error
    if not isinstance(metadata.signed, kind):
        raise TrustError(f"it is metadata of {metadata.signed.type}, and not of {kind.type}")
    return metadata.signed


def _create(path: Path, content: bytes) -> None:
    """A version is written once; the same again is nothing. One that a publish left before it was cut off is not named
    by any timestamp, and its number is not used again.
    """
    fresh = _fresh(path, content)
    try:
        os.link(fresh, path)
    except FileExistsError as error:
        if path.read_bytes() != content:
            raise TrustError(f"{path}: this version is there already: somebody else publishes; try again") from error
    except OSError as error:
        raise TrustError(f"{path}: cannot be written: {error}") from error
    finally:
        fresh.unlink()


def _replace(path: Path, content: bytes) -> None:
    _fresh(path, content).replace(path)


def _fresh(path: Path, content: bytes) -> Path:
    fresh = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise TrustError(f"{path}: cannot be written: {error}") from error
    return fresh
