"""Write a bundle: one file with images, releases, what is said of them, and the signed metadata that names them."""

import io
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from images.bundle.archive import Writer
from images.bundle.contents import INDEX, Contents, blob_name, head_json
from images.oci.index import LAYOUT, index_json, read_index
from images.oci.published import statements_in
from images.store import ArtefactStore
from images.trust.folder import TrustFolder
from images.trust.repository import Target, files_of
from images.whole_files import sync_directory


@dataclass(frozen=True, slots=True)
class Exported:
    """What a bundle holds."""

    names: tuple[str, ...]
    files: int
    size_bytes: int


def export(
    store: ArtefactStore, trust: TrustFolder, targets: Mapping[str, Target], path: Path, *, files: bool = True
) -> Exported:
    """Write the bundle of these names; it gets its name when it is complete. Equal content gives equal bytes.

    Without `files` it carries the signed metadata alone, for sites that have the files, as for a return to an older
    image. Raises ArtefactAbsentError, ArtefactCorruptError, BundleError, TrustError and OSError.
    """
    contents = _contents(store, targets)
    blobs = [*contents.entries, *(one for one in sorted(contents.sizes) if one not in contents.entries)]
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as new:
        try:
            writer = Writer(new)
            _add(writer, "bundle.json", head_json(targets))
            for metadata in files_of(trust.metadata):
                _add(writer, f"tuf/{metadata.name}", metadata.read_bytes())
            _add(writer, "oci-layout", LAYOUT)
            _add(writer, INDEX, index_json(contents.entries.values()))
            for digest in blobs if files else ():
                with store.verify(digest).open("rb") as file:
                    writer.add(blob_name(digest), file, contents.sizes[digest])
            writer.finish()
            new.flush()
            os.fsync(new.fileno())
            Path(new.name).chmod(0o644)
            size_bytes = new.tell()
            Path(new.name).replace(path)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
    sync_directory(path.parent)
    return Exported(tuple(sorted(targets)), len(blobs) if files else 0, size_bytes)


def _contents(store: ArtefactStore, targets: Mapping[str, Target]) -> Contents:
    """In the order in which they are written: a manifest, what it names, what is said of that."""
    contents = Contents({one.digest: one.size_bytes for one in targets.values()})
    waiting = sorted(contents.sizes)
    while waiting:
        digest = waiting.pop(0)
        before = set(contents.sizes)
        contents.arrived(digest, store.path(digest))
        waiting += sorted(contents.sizes.keys() - before)
    known = {one.digest: one for one in read_index(store)}
    for one in sorted(statements_in(store), key=lambda one: one.digest):
        if one.subject in contents.entries:
            contents.sizes[one.digest] = known[one.digest].size_bytes
            contents.arrived(one.digest, store.path(one.digest))
    return contents


def _add(writer: Writer, name: str, content: bytes) -> None:
    writer.add(name, io.BytesIO(content), len(content))
