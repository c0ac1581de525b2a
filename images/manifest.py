"""What an image consists of; the digest of the manifest is the digest of the image."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from images.digest import Digest, DigestError, digest_of, parse_digest

SCHEMA = "firstlight.image/1"


class ManifestError(ValueError):
    """The bytes are not the manifest of an image."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file of an image. `role`: what it is for (root, kernel, initrd, lock, sbom)."""

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
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "name": self.name,
            "arch": self.arch,
            "artefacts": [asdict(artefact) for artefact in self.artefacts],
        }
        if self.bootable is not None:
            content["bootable"] = asdict(self.bootable)
        if self.made_from:
            content["made_from"] = dict(self.made_from)
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def parse_manifest(content: bytes) -> ImageManifest:
    """Return the manifest that `canonical_json` wrote; raise ManifestError for anything else."""
    try:
        document = json.loads(content)
        if document["schema"] != SCHEMA:
            raise ManifestError(f"schema is {document['schema']!r}, not {SCHEMA}")
        artefacts = (
            Artefact(one["role"], parse_digest(one["digest"]), one["size_bytes"]) for one in document["artefacts"]
        )
        return ImageManifest(
            name=document["name"],
            arch=document["arch"],
            artefacts=tuple(artefacts),
            bootable=_bootable(document.get("bootable")),
            made_from=document.get("made_from", {}),
        )
    except (ValueError, TypeError, KeyError, DigestError) as error:
        if isinstance(error, ManifestError):
            raise
        raise ManifestError(f"no manifest of an image: {type(error).__name__}: {error}") from error


def _bootable(document: dict[str, Any] | None) -> Bootable | None:
    if document is None:
        return None
    return Bootable(**{**document, "command_line": tuple(document["command_line"])})
