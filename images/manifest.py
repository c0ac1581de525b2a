"""What an image consists of: an OCI image manifest, whose digest is the digest of the image.

https://github.com/opencontainers/image-spec, manifest.md. The files of the image are its layers; what a kernel has to
know is its config, which the manifest also carries itself, so that one read is enough.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from images.digest import Digest, DigestError, digest_of, parse_digest

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
ARTIFACT_TYPE = "application/vnd.firstlight.image.v1"
CONFIG_TYPE = "application/vnd.firstlight.image.config.v1+json"
ROLE = "firstlight.role"
"""The annotation of a layer that says what it is for."""

OLD_SCHEMA = "firstlight.image/1"
"""Of manifests before OCI: such an image keeps its digest, and is never made anew."""

_LAYER_TYPES = {
    "sbom": "application/vnd.cyclonedx+json",
    "lock": "application/vnd.firstlight.lock.v1+json",
    "tests": "application/vnd.firstlight.image-tests.v1+json",
}


class ManifestError(ValueError):
    """The bytes are not the manifest of an image."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file of an image. `role`: what it is for (root, kernel, initrd, cmdline, lock, sbom)."""

    role: str
    digest: Digest
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Bootable:
    """What a kernel has to know to run the root: absent for the bare agent, which has no kernel.

    The root is a squashfs with its dm-verity hash tree behind it, in one file: `verity_root_hash` is 64 hex digits,
    `verity_offset_bytes` is where the tree begins. `command_line`: the words of the profile, in order, without those of
    one boot (`firstlight.*`). `secure_boot`: only a signed program may start it.
    """

    kernel_abi: str
    command_line: tuple[str, ...]
    verity_root_hash: str
    verity_offset_bytes: int
    overlay_mib: int
    method: str
    secure_boot: bool


@dataclass(frozen=True, slots=True)
class ImageManifest:
    """An image by content. `made_from`: digests of what it was made from: profile, lock, builder."""

    name: str
    arch: str
    artefacts: tuple[Artefact, ...]
    bootable: Bootable | None = None
    made_from: Mapping[str, str] = field(default_factory=dict)
    old_schema: bool = False
    """Written before images were OCI manifests."""
    digest: Digest = field(init=False, repr=False, compare=False)
    """The image digest, made once: every answer of the boot endpoint names it."""

    def __post_init__(self) -> None:
        """Digest what was given; nothing of it changes later."""
        object.__setattr__(self, "digest", digest_of(self.canonical_json()))

    def artefact(self, role: str) -> Artefact:
        """Return the file of a role; raise KeyError when the image has none."""
        for artefact in self.artefacts:
            if artefact.role == role:
                return artefact
        raise KeyError(role)

    def canonical_json(self) -> bytes:
        """Return the manifest with sorted keys and compact separators, UTF-8."""
        if self.old_schema:
            artefacts = [asdict(artefact) for artefact in self.artefacts]
            return _canonical({"schema": OLD_SCHEMA, "artefacts": artefacts, **self._described()})
        config = self.config_json()
        document = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "artifactType": ARTIFACT_TYPE,
            "config": {
                "mediaType": CONFIG_TYPE,
                "digest": digest_of(config),
                "size": len(config),
                "data": base64.b64encode(config).decode(),
            },
            "layers": [_layer(artefact) for artefact in self.artefacts],
        }
        return _canonical(document)

    def config_json(self) -> bytes:
        """Return the config: everything but the files."""
        return _canonical(self._described())

    def _described(self) -> dict[str, Any]:
        described: dict[str, Any] = {"name": self.name, "arch": self.arch}
        if self.bootable is not None:
            described["bootable"] = asdict(self.bootable)
        if self.made_from:
            described["made_from"] = dict(self.made_from)
        return described


def parse_manifest(content: bytes) -> ImageManifest:
    """Return the manifest that `canonical_json` wrote, now or before OCI; raise ManifestError for anything else."""
    try:
        document = json.loads(content)
        manifest = _of_before(document) if "schema" in document else _of_oci(document)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, DigestError) as error:
        if isinstance(error, ManifestError):
            raise
        raise ManifestError(f"no manifest of an image: {type(error).__name__}: {error}") from error
    if manifest.canonical_json() != content:
        raise ManifestError("no manifest of an image: it says more than this release of Firstlight understands")
    return manifest


def _of_before(document: dict[str, Any]) -> ImageManifest:
    if document["schema"] != OLD_SCHEMA:
        raise ManifestError(f"schema is {document['schema']!r}, not {OLD_SCHEMA}")
    artefacts = (Artefact(one["role"], parse_digest(one["digest"]), one["size_bytes"]) for one in document["artefacts"])
    return _image(document, tuple(artefacts), old_schema=True)


def _of_oci(document: dict[str, Any]) -> ImageManifest:
    if document.get("artifactType") != ARTIFACT_TYPE:
        raise ManifestError(f"artifactType is {document.get('artifactType')!r}, not {ARTIFACT_TYPE}")
    layers = document["layers"]
    artefacts = (Artefact(one["annotations"][ROLE], parse_digest(one["digest"]), one["size"]) for one in layers)
    config = json.loads(base64.b64decode(document["config"]["data"], validate=True))
    return _image(config, tuple(artefacts), old_schema=False)


def _image(described: dict[str, Any], artefacts: tuple[Artefact, ...], *, old_schema: bool) -> ImageManifest:
    said = described.get("bootable")
    return ImageManifest(
        name=described["name"],
        arch=described["arch"],
        artefacts=artefacts,
        bootable=None if said is None else Bootable(**{**said, "command_line": tuple(said["command_line"])}),
        made_from=described.get("made_from", {}),
        old_schema=old_schema,
    )


def _layer(artefact: Artefact) -> dict[str, Any]:
    return {
        "mediaType": _LAYER_TYPES.get(artefact.role, f"application/vnd.firstlight.{artefact.role}.v1"),
        "digest": artefact.digest,
        "size": artefact.size_bytes,
        "annotations": {ROLE: artefact.role},
    }


def _canonical(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
