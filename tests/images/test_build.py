"""Building the agent image: the same bytes whenever and wherever."""

import base64
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from images import build
from images.build import agent_files, build_image, zip_archive
from images.digest import digest_of
from images.store import ArtefactStore

SOURCE = Path(build.__file__).parent


def test_builds_at_other_times_in_other_folders_are_one_image(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "images"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in copy.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o600)
    assert zip_archive(agent_files(copy)) == zip_archive(agent_files())


def contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_an_image_is_its_manifest(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    image = build_image("agent", "x86_64", store)
    stored = store.verify(image.digest).read_bytes()
    root = image.artefact("root")
    assert digest_of(stored) == image.digest
    config = b'{"arch":"x86_64","name":"agent"}'
    assert store.verify(digest_of(config)).read_bytes() == config
    assert json.loads(stored) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.firstlight.image.v1",
        "config": {
            "mediaType": "application/vnd.firstlight.image.config.v1+json",
            "digest": digest_of(config),
            "size": len(config),
            "data": base64.b64encode(config).decode(),
        },
        "layers": [
            {
                "mediaType": "application/vnd.firstlight.root.v1",
                "digest": root.digest,
                "size": root.size_bytes,
                "annotations": {"firstlight.role": "root"},
            }
        ],
    }
    assert store.verify(root.digest).stat().st_size == root.size_bytes


def test_building_again_changes_nothing(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    first = build_image("agent", "x86_64", store)
    before = contents(tmp_path)
    assert build_image("agent", "x86_64", store) == first
    assert contents(tmp_path) == before
    assert len(list(store.blobs.iterdir())) == 3, "root, config, manifest"


def test_another_name_or_architecture_is_another_image(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    digests = {build_image(n, a, store).digest for n, a in [("a", "x86_64"), ("b", "x86_64"), ("a", "arm64")]}
    assert len(digests) == 3


def test_an_image_with_another_file_has_another_digest(tmp_path: Path) -> None:
    """The digest is made once for each manifest, and belongs to that one."""
    image = build_image("agent", "x86_64", ArtefactStore(tmp_path))
    other = replace(image, artefacts=(replace(image.artefacts[0], size_bytes=1),))
    assert other.digest == digest_of(other.canonical_json()) != image.digest


def test_the_archive_holds_sources_only() -> None:
    assert all(name.endswith(".py") for name in agent_files())


def test_the_agent_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    """Isolated, without site-packages and outside the repository, every module of the archive imports."""
    archive = tmp_path / "root.pyz"
    archive.write_bytes(zip_archive(agent_files()))
    modules = [n.removesuffix(".py").replace("/", ".") for n in agent_files() if "__" not in n]
    script = f"import sys; sys.path.insert(0, {str(archive)!r}); import {', '.join(modules)}"
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_agent_starts_without_heavy_imports(tmp_path: Path) -> None:
    archive = tmp_path / "root.pyz"
    archive.write_bytes(zip_archive(agent_files()))
    command = [sys.executable, "-I", "-S", "-X", "importtime", str(archive)]
    ran = subprocess.run([*command, "firstlight.server=http://x"], capture_output=True, text=True)
    assert ran.returncode == 2
    imported = {line.split("|")[-1].strip() for line in ran.stderr.splitlines() if line.startswith("import time")}
    assert not imported & {"asyncio", "multiprocessing", "logging", "dataclasses", "inspect", "argparse", "ctypes"}
