"""Images and statements in a store: published as a whole, listed, read."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from images.digest import Digest, digest_of, parse_digest
from images.manifest import MANIFEST_TYPE, ImageManifest, ManifestError, parse_manifest
from images.oci.index import Entry, change_index, entry_of, parts_of, read_index
from images.store import ArtefactAbsentError, ArtefactCorruptError, ArtefactStore

STATEMENT_TYPE = "application/vnd.firstlight.statement.v1"
RELEASE_TYPE = "application/vnd.firstlight.release.v1"
ENVELOPE_TYPE = "application/vnd.dsse.envelope.v1+json"
_FIRMWARE_TYPE = "application/vnd.firstlight.firmware-package.v1"
_EMPTY = b"{}"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"


@dataclass(frozen=True, slots=True)
class StatementManifest:
    """A statement as it refers to an image: `subject` is the image, `envelope` the file with the signatures."""

    digest: Digest
    subject: Digest
    envelope: Digest


def publish_image(store: ArtefactStore, manifest: ImageManifest) -> None:
    """Put the manifest into the store, whose files are there, and into its index; again changes nothing.

    Raises ArtefactAbsentError when a file of it is missing.
    """
    if not manifest.old_schema:
        store.put_bytes(manifest.config_json())
    content = manifest.canonical_json()
    needs = parts_of(content)
    _check(store, manifest.digest, needs)
    _enter(store, store.put_bytes(content), needs)


def publish_statement(store: ArtefactStore, image: Entry, envelope: bytes) -> Digest:
    """Put a signed statement about an image into the store; the same one again changes nothing."""
    store.put_bytes(_EMPTY)
    signed = store.put_bytes(envelope)
    layers = [{"mediaType": ENVELOPE_TYPE, "digest": signed, "size": len(envelope)}]
    subject = {"mediaType": image.media_type, "digest": image.digest, "size": image.size_bytes}
    digest = store.put_bytes(_without_config(STATEMENT_TYPE, layers, subject=subject))
    _enter(store, digest, {signed: len(envelope), image.digest: image.size_bytes})
    return digest


def publish_release(store: ArtefactStore, document: bytes, image: Entry, packages: Mapping[Digest, int]) -> Digest:
    """Put a release into the store: its document, whose digest is the release's, its image, and its firmware packages.

    Raises ArtefactAbsentError when one of them is missing.
    """
    store.put_bytes(_EMPTY)
    written = store.put_bytes(document)
    layers = [{"mediaType": "application/vnd.firstlight.release.v1+json", "digest": written, "size": len(document)}]
    layers.append({"mediaType": image.media_type, "digest": image.digest, "size": image.size_bytes})
    layers += [{"mediaType": _FIRMWARE_TYPE, "digest": one, "size": size} for one, size in sorted(packages.items())]
    needs = {**packages, image.digest: image.size_bytes}
    _check(store, written, needs)
    digest = store.put_bytes(_without_config(RELEASE_TYPE, layers))
    _enter(store, digest, needs)
    return digest


def images_in(store: ArtefactStore) -> tuple[Entry, ...]:
    """Every image of the store."""
    return tuple(one for one in read_index(store) if one.is_image)


def image_entry(store: ArtefactStore, image: Digest) -> Entry:
    """The image as the index names it. Raises ArtefactAbsentError."""
    for one in images_in(store):
        if one.digest == image:
            return one
    content = store.path(image).read_bytes()
    entry = entry_of(image, content)
    if entry is None or not entry.is_image:
        raise ArtefactAbsentError(f"{image}: is no image")
    return entry


def read_image(store: ArtefactStore, image: Digest) -> ImageManifest:
    """Raises ArtefactAbsentError and ManifestError."""
    return parse_manifest(store.path(image).read_bytes())


def keep_image(store: ArtefactStore, image: Digest) -> ImageManifest:
    """The image when all of it is there; none of it is collected within the grace period from now.

    Who points to an image calls this first. Raises ArtefactAbsentError and ManifestError.
    """
    store.keep(image)
    manifest = read_image(store, image)
    for one in manifest.artefacts:
        if store.keep(one.digest).stat().st_size != one.size_bytes:
            raise ArtefactAbsentError(f"{one.digest}: has another size in {store.root} than {image} says")
    return manifest


def statements_in(store: ArtefactStore) -> tuple[StatementManifest, ...]:
    """Every statement of the store, about whatever image."""
    entries = [one for one in read_index(store) if one.artifact_type == STATEMENT_TYPE]
    return tuple(parse_statement_manifest(store.path(one.digest).read_bytes()) for one in entries)


def parse_statement_manifest(content: bytes) -> StatementManifest:
    """Raises ManifestError."""
    try:
        document: Mapping[str, Any] = json.loads(content)
        if document["artifactType"] != STATEMENT_TYPE:
            raise ManifestError(f"artifactType is {document['artifactType']!r}, not {STATEMENT_TYPE}")
        (layer,) = document["layers"]
        subject, envelope = parse_digest(document["subject"]["digest"]), parse_digest(layer["digest"])
        return StatementManifest(digest_of(content), subject, envelope)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ManifestError(f"no manifest of a statement: {error}") from error


def _without_config(kind: str, layers: Sequence[Mapping[str, object]], **more: Mapping[str, object]) -> bytes:
    config = {"mediaType": _EMPTY_TYPE, "digest": digest_of(_EMPTY), "size": len(_EMPTY)}
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": kind,
        "config": {**config, "data": base64.b64encode(_EMPTY).decode()},
        "layers": layers,
        **more,
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _enter(store: ArtefactStore, digest: Digest, needs: Mapping[Digest, int]) -> None:
    """Into the index, if nothing that it needs is missing: a collection may have run since it was put."""
    known = digest in {one.digest for one in read_index(store)}
    for one in (digest, *needs):
        store.keep(one)
    if known:
        return
    with store.lock(alone=True):
        _check(store, digest, needs)
        entry = entry_of(digest, store.path(digest).read_bytes())
        if entry is None:
            raise ArtefactCorruptError(f"{digest}: in {store.root} it is no manifest")
        change_index(store, add=[entry])


def _check(store: ArtefactStore, digest: Digest, needs: Mapping[Digest, int]) -> None:
    for one, size_bytes in needs.items():
        if store.path(one).stat().st_size != size_bytes:
            raise ArtefactAbsentError(f"{one}: has another size in {store.root} than {digest} says")
