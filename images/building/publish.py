"""From files of a build to an image: everything into the store and checked there, then the name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from images.digest import DigestError, parse_digest
from images.manifest import Artefact, ImageManifest, ManifestError
from images.oci.published import keep_image, publish_image
from images.references import Reference, ReferenceUnreadableError, read_reference, write_reference
from images.store import ArtefactError, ArtefactStore

_SCHEMA = "firstlight.build/1"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The images of a data directory: their files, which build made which, and their names."""

    data_dir: Path

    @property
    def store(self) -> ArtefactStore:
        """Files by digest."""
        return ArtefactStore(self.data_dir / "artefacts")

    def take(self, files: Mapping[str, Path], texts: Mapping[str, bytes]) -> tuple[Artefact, ...]:
        """Store what has a role; return it as artefacts, each read again from the disk."""
        digests = {role: self.store.put_file(path) for role, path in files.items()}
        digests |= {role: self.store.put_bytes(content) for role, content in texts.items()}
        places = {role: self.store.verify(digest) for role, digest in digests.items()}
        return tuple(Artefact(role, digests[role], places[role].stat().st_size) for role in digests)

    def publish(self, manifest: ImageManifest, build_key: str) -> None:
        """Store the manifest, remember which build it is of, and point the name to it."""
        publish_image(self.store, manifest)
        record = self._record(build_key)
        record.parent.mkdir(parents=True, exist_ok=True)
        new = record.with_suffix(".new")
        new.write_text(json.dumps({"schema": _SCHEMA, "image": manifest.digest}), encoding="utf-8")
        new.replace(record)
        self.point(manifest, build_key)

    def point(self, manifest: ImageManifest, build_key: str) -> None:
        """Point the image's name to it, unless it does already."""
        made_from = manifest.made_from
        now = Reference(
            name=manifest.name,
            image=manifest.digest,
            profile_digest=made_from["profile"],
            lock_digest=made_from["lock"],
            build_key=build_key,
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        before = self.reference(manifest.name)
        if before is None or (before.image, before.build_key) != (now.image, now.build_key):
            write_reference(self.data_dir, now)

    def reference(self, name: str) -> Reference | None:
        """Return what the name stands for; None also for what nobody can read, as a build replaces it."""
        try:
            return read_reference(self.data_dir, name)
        except ReferenceUnreadableError:
            return None

    def built(self, build_key: str) -> ImageManifest | None:
        """Return the image of this build when all its files are there."""
        try:
            document = json.loads(self._record(build_key).read_bytes())
            return keep_image(self.store, parse_digest(document["image"]))
        except (OSError, ValueError, KeyError, DigestError, ManifestError, ArtefactError):
            return None

    def text(self, digest: str) -> bytes | None:
        """Return a small file; None when it is not there."""
        try:
            return self.store.verify(parse_digest(digest)).read_bytes()
        except (DigestError, ArtefactError):
            return None

    def _record(self, build_key: str) -> Path:
        return self.data_dir / "builds" / f"{build_key.removeprefix('sha256:')}.json"
