"""Build the agent image: one zip archive that Python runs, the same bytes whenever and wherever it is built."""

import io
import zipfile
from pathlib import Path

from images.manifest import Artefact, ImageManifest
from images.oci.pins import Pin, PinKind, hold_alone
from images.oci.published import publish_image
from images.store import ArtefactStore

_IMAGES = Path(__file__).parent
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the epoch of the zip format


def build_image(name: str, arch: str, store: ArtefactStore) -> ImageManifest:
    """Put the root and the manifest of the agent image into the store; building again changes nothing.

    It is held until another one is built under its name: a service keeps it in mind from its start on.
    """
    root = zip_archive(agent_files())
    artefact = Artefact(role="root", digest=store.put_bytes(root), size_bytes=len(root))
    manifest = ImageManifest(name=name, arch=arch, artefacts=(artefact,))
    publish_image(store, manifest)
    hold_alone(store, manifest.digest, Pin(PinKind.NAME, name, "the agent, as this release of Firstlight has it"))
    return manifest


def agent_files(directory: Path = _IMAGES) -> dict[str, bytes]:
    """Return the archive's files: `images/agent` under its own name, and its `__main__.py` at the top as well."""
    agent = directory / "agent"
    files = {f"images/agent/{path.relative_to(agent).as_posix()}": path.read_bytes() for path in agent.rglob("*.py")}
    files["images/__init__.py"] = (directory / "__init__.py").read_bytes()
    files["__main__.py"] = files["images/agent/__main__.py"]
    return files


def zip_archive(files: dict[str, bytes]) -> bytes:
    """Return a zip of the files. They are stored, as compressors differ in their output between versions."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.create_system = 3  # Unix, also when built elsewhere
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()
