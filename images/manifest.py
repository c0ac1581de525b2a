"""What an image consists of; the digest of the manifest is the digest of the image."""

import json
from dataclasses import dataclass

from images.digest import Digest, digest_of

SCHEMA = "firstlight.image/1"


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file of an image. `role`: what the boot uses it for (root, kernel, initrd, ...)."""

    role: str
    digest: Digest
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ImageManifest:
    """An image by content."""

    name: str
    arch: str
    artefacts: tuple[Artefact, ...]

    @property
    def digest(self) -> Digest:
        """Return the image digest."""
        return digest_of(self.canonical_json())

    def artefact(self, role: str) -> Artefact:
        """Return the file of a role; raise KeyError when the image has none."""
        for artefact in self.artefacts:
            if artefact.role == role:
                return artefact
        raise KeyError(role)

    def canonical_json(self) -> bytes:
        """Return the manifest with sorted keys and compact separators, UTF-8."""
        content = {
            "schema": SCHEMA,
            "name": self.name,
            "arch": self.arch,
            "artefacts": [
                {"role": artefact.role, "digest": artefact.digest, "size_bytes": artefact.size_bytes}
                for artefact in self.artefacts
            ],
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
