"""What belongs into a bundle: what the signed names stand for, all that it names in turn, and what is said of it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from images.bundle.errors import EXPORT_AGAIN, BundleError
from images.digest import Digest
from images.manifest import ManifestError
from images.oci.index import LARGEST_MANIFEST_BYTES, Entry, entry_of, parts_of
from images.oci.published import STATEMENT_TYPE, parse_statement_manifest
from images.trust.repository import Target

SCHEMA = "firstlight.bundle/1"
HEAD = "bundle.json"
INDEX = "index.json"
IMAGE = "image/"
"""Of signed names: what a profile's name stands for."""


def blob_name(digest: Digest) -> str:
    """As it stands in the archive."""
    return f"blobs/{digest.replace(':', '/')}"


def head_json(names: Iterable[str]) -> bytes:
    """Which of the signed names this bundle brings."""
    return json.dumps({"schema": SCHEMA, "targets": sorted(names)}, indent=1).encode() + b"\n"


def parse_head(content: bytes, targets: Mapping[str, Target]) -> Mapping[str, Target]:
    """What the names of the head stand for. Raises BundleError."""
    try:
        document = json.loads(content)
        names, schema = document["targets"], document["schema"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BundleError(HEAD, f"cannot be read ({type(error).__name__}: {error})", EXPORT_AGAIN) from error
    if schema != SCHEMA:
        raise BundleError(HEAD, f"schema is {str(schema)[:100]!r}, not {SCHEMA}", "update Firstlight first")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise BundleError(HEAD, "brings no names", EXPORT_AGAIN)
    unknown = [name[:100] for name in names if name not in targets]
    if unknown:
        raise BundleError(HEAD, f"brings {', '.join(unknown)}, which nobody has signed", EXPORT_AGAIN)
    return {name: targets[name] for name in names}


@dataclass(slots=True)
class Contents:
    """Grows from the roots as manifests come in; a file that nothing has named is not part of it."""

    sizes: dict[Digest, int]
    """Everything that is named so far: digest -> bytes."""
    entries: dict[Digest, Entry] = field(default_factory=dict)
    """Manifests that have come in."""
    subjects: dict[Digest, Digest] = field(default_factory=dict)
    """Of statements among them."""

    def arrived(self, digest: Digest, path: Path) -> None:
        """Take note of what a file names, if it is a manifest. Its bytes are those of the digest."""
        if path.stat().st_size > LARGEST_MANIFEST_BYTES:
            return
        content = path.read_bytes()
        entry = entry_of(digest, content) if content.startswith(b"{") else None
        if entry is None:
            return
        self.entries[digest] = entry
        try:
            named = dict(parts_of(content))
            if entry.artifact_type == STATEMENT_TYPE:
                self.subjects[digest] = parse_statement_manifest(content).subject
                if max(named.values()) > LARGEST_MANIFEST_BYTES:
                    raise ManifestError("it has more than a statement has")
        except (ValueError, ManifestError) as error:
            raise BundleError(blob_name(digest), f"is a damaged manifest: {error}", EXPORT_AGAIN) from error
        for one, size_bytes in named.items():
            if self.sizes.setdefault(one, size_bytes) != size_bytes:
                raise BundleError(blob_name(one), f"two manifests say different sizes, as {digest}", EXPORT_AGAIN)

    def check_subjects(self) -> None:
        """When all is in: each statement is about something that is. Raises BundleError."""
        for statement, subject in self.subjects.items():
            if subject not in self.entries:
                raise BundleError(blob_name(statement), f"is about {subject}, which is not in here", EXPORT_AGAIN)
