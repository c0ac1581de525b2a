"""The files of an OCI image layout beside its blobs: `oci-layout`, and `index.json` with every manifest of the store.

https://github.com/opencontainers/image-spec, image-layout.md. Both are always replaced as a whole.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from images.digest import Digest, DigestError, parse_digest
from images.manifest import ARTIFACT_TYPE, MANIFEST_TYPE, OLD_SCHEMA
from images.store import ArtefactError, ArtefactStore
from images.whole_files import sync_directory, write_whole

INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
OLD_TYPE = f"application/vnd.{OLD_SCHEMA.replace('/', '.v')}+json"
"""Of images that were made before manifests were OCI's; tools that do not know it pass over it."""
LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'
LARGEST_MANIFEST_BYTES = 4 * 2**20  # what registries take


class IndexUnreadableError(ArtefactError):
    """`index.json` is not what we wrote; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One manifest of the store. `artifact_type`: of an image or of a statement; "" for neither."""

    digest: Digest
    size_bytes: int
    media_type: str
    artifact_type: str
    name: str
    """Of an image: that of its profile; "" for a statement."""

    @property
    def is_image(self) -> bool:
        """Not a statement about one."""
        return self.artifact_type == ARTIFACT_TYPE


def read_index(store: ArtefactStore) -> tuple[Entry, ...]:
    """Every manifest of the store; what lies in the layout of before is moved over first.

    Raises IndexUnreadableError.
    """
    if not store.root.is_dir():
        return ()
    path = store.root / "index.json"
    if not path.exists() or (store.root / "sha256").is_dir():
        with store.lock(alone=True):
            store.move_over()
            _write(store, _scanned(store))
    return _read(path)


def change_index(store: ArtefactStore, add: Iterable[Entry] = (), remove: Iterable[Digest] = ()) -> None:
    """Add and take away manifests. The caller holds the lock of the store alone, and has called `read_index` before."""
    gone = set(remove)
    known = {one.digest: one for one in _read(store.root / "index.json") if one.digest not in gone}
    known |= {one.digest: one for one in add}
    _write(store, known.values())


def index_json(entries: Iterable[Entry]) -> bytes:
    """Return the content of `index.json`; equal entries give equal bytes."""
    manifests = [_descriptor(one) for one in sorted(entries, key=lambda one: one.digest)]
    document = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": manifests}
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"


def parse_index(content: bytes) -> tuple[Entry, ...]:
    """Return what `index_json` wrote. Raises ValueError."""
    try:
        document = json.loads(content)
        if document["schemaVersion"] != 2:
            raise ValueError(f"schemaVersion is {document['schemaVersion']!r}, not 2")
        return tuple(_entry(one) for one in document["manifests"])
    except (KeyError, TypeError, AttributeError, RecursionError, DigestError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def entry_of(digest: Digest, content: bytes) -> Entry | None:
    """Return what stands in the index for these bytes; None when they are no manifest of ours."""
    try:
        document = json.loads(content)
        if document.get("mediaType") == MANIFEST_TYPE:
            kind = document["artifactType"]
            return Entry(digest, len(content), MANIFEST_TYPE, kind, _name(document) if kind == ARTIFACT_TYPE else "")
        if document.get("schema") == OLD_SCHEMA:
            return Entry(digest, len(content), OLD_TYPE, ARTIFACT_TYPE, document["name"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return None


def parts_of(content: bytes) -> Mapping[Digest, int]:
    """Return what a manifest of ours names beside its subject: digest -> bytes. Raises ValueError."""
    try:
        document = json.loads(content)
        if document.get("schema") == OLD_SCHEMA:
            return {parse_digest(one["digest"]): int(one["size_bytes"]) for one in document["artefacts"]}
        named = [document["config"], *document["layers"]]
        return {parse_digest(one["digest"]): int(one["size"]) for one in named}
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def replace_file(path: Path, content: bytes, unfinished: Path) -> None:
    """Write a small file; who reads meanwhile finds the old one or the new one, also after a power loss."""
    write_whole(path, content, through=unfinished)
    sync_directory(path.parent)


def _name(document: dict[str, Any]) -> str:
    return str(json.loads(base64.b64decode(document["config"]["data"], validate=True))["name"])


def _read(path: Path) -> tuple[Entry, ...]:
    try:
        return parse_index(path.read_bytes())
    except (OSError, ValueError) as error:
        remedy = "move it away, and it is written anew from the files that are there"
        raise IndexUnreadableError(f"{path}: is no index of an OCI image layout ({error}); {remedy}") from error


def _write(store: ArtefactStore, entries: Iterable[Entry]) -> None:
    layout = store.root / "oci-layout"
    if not layout.exists():
        replace_file(layout, LAYOUT, store.unfinished)
    replace_file(store.root / "index.json", index_json(entries), store.unfinished)


def _scanned(store: ArtefactStore) -> list[Entry]:
    """Look into every small file."""
    found = []
    for path in store.blobs.glob("[0-9a-f]" * 64):
        if path.stat().st_size > LARGEST_MANIFEST_BYTES:
            continue
        with path.open("rb") as file:
            if file.read(1) != b"{":
                continue
        content = path.read_bytes()
        entry = entry_of(parse_digest(f"sha256:{path.name}"), content)
        if entry is not None and _is_whole(store, content):
            found.append(entry)
    return found


def _is_whole(store: ArtefactStore, content: bytes) -> bool:
    """A publish that was cut off left no image."""
    try:
        return all(store.path(one).stat().st_size == size_bytes for one, size_bytes in parts_of(content).items())
    except (ArtefactError, ValueError):
        return False


def _descriptor(entry: Entry) -> dict[str, Any]:
    descriptor: dict[str, Any] = {
        "mediaType": entry.media_type,
        "digest": entry.digest,
        "size": entry.size_bytes,
        "artifactType": entry.artifact_type,
    }
    if entry.name:
        descriptor["annotations"] = {"firstlight.name": entry.name}
    return descriptor


def _entry(document: dict[str, Any]) -> Entry:
    return Entry(
        digest=parse_digest(document["digest"]),
        size_bytes=document["size"],
        media_type=document["mediaType"],
        artifact_type=document.get("artifactType", ""),
        name=document.get("annotations", {}).get("firstlight.name", ""),
    )
