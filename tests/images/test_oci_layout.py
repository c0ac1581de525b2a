"""The store is an OCI image layout (image-spec, image-layout.md and manifest.md), also when writers are killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from images.digest import Digest, digest_of
from images.manifest import Artefact, ImageManifest, ManifestError, parse_manifest
from images.oci.index import IndexUnreadableError, read_index
from images.oci.published import image_entry, images_in, publish_image, publish_statement, statements_in
from images.store import ArtefactAbsentError, ArtefactStore
from tests.images.oci_samples import BOOTABLE, in_old_layout, is_whole, published, small_image
from tests.images.processes import wait

WRITER = """
import sys
from pathlib import Path
from images.store import ArtefactStore
from tests.images.oci_samples import published
store, number = ArtefactStore(Path(sys.argv[1])), 0
while True:
    store.put_bytes(bytes([number % 251]) * 2_000_000 + str(number).encode())
    published(store, str(number))
    number += 1
    print(number, flush=True)
"""


def read_as_oci(root: Path) -> dict[str, list[str]]:
    """Image digest -> digests of its parts, by nothing but the specification; every descriptor is checked."""

    def content(descriptor: dict[str, object]) -> bytes:
        found = (root / "blobs" / str(descriptor["digest"]).replace(":", "/")).read_bytes()
        assert f"sha256:{hashlib.sha256(found).hexdigest()}" == descriptor["digest"]
        assert len(found) == descriptor["size"]
        return found

    assert json.loads((root / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads((root / "index.json").read_text())
    assert (index["schemaVersion"], index["mediaType"]) == (2, "application/vnd.oci.image.index.v1+json")
    images = {}
    for descriptor in index["manifests"]:
        manifest = json.loads(content(descriptor))
        assert manifest["artifactType"] == descriptor["artifactType"]
        content(manifest["config"])
        for layer in manifest["layers"]:
            content(layer)
        if "subject" in manifest:
            content(manifest["subject"])
        images[descriptor["digest"]] = [layer["digest"] for layer in manifest["layers"]]
    return images


def test_a_store_is_an_oci_image_layout(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path / "store")
    image = published(store, "a")
    statement = publish_statement(store, image_entry(store, image.digest), b'{"payload":""}')
    found = read_as_oci(store.root)
    assert found[image.digest] == [one.digest for one in image.artefacts]
    assert set(found) == {image.digest, statement}
    assert [one.subject for one in statements_in(store)] == [image.digest]
    assert [(one.digest, one.name) for one in images_in(store)] == [(image.digest, "small")]


def test_the_digest_of_an_image_is_that_of_its_manifest(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    image = published(store, "a")
    content = store.verify(image.digest).read_bytes()
    assert digest_of(content) == image.digest == parse_manifest(content).digest
    assert parse_manifest(content) == image
    assert published(store, "a").digest == image.digest


@pytest.mark.parametrize("more", ['{"x":1,', '{"annotations":{"a":"b"},'])
def test_a_manifest_that_says_more_than_is_read_is_refused(tmp_path: Path, more: str) -> None:
    """Its digest would not be that of what was understood."""
    content = published(ArtefactStore(tmp_path), "a").canonical_json().decode()
    with pytest.raises(ManifestError, match="says more"):
        parse_manifest(content.replace("{", more, 1).encode())


def test_an_image_with_a_file_missing_is_not_published(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    image = small_image(store, "a")
    absent = Artefact("lock", digest_of(b"absent"), 6)
    short = replace(image.artefacts[0], size_bytes=1)
    for wrong in ((*image.artefacts, absent), (short, *image.artefacts[1:])):
        with pytest.raises(ArtefactAbsentError):
            publish_image(store, replace(image, artefacts=wrong))
    assert images_in(store) == ()


def test_an_image_of_the_layout_before_keeps_its_digest_and_all_of_its_files(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    image = replace(small_image(store, "old"), old_schema=True)
    assert b'"schema":"firstlight.image/1"' in image.canonical_json()
    store.put_bytes(image.canonical_json())
    package = store.put_bytes(b"firmware")
    in_old_layout(store)
    assert ArtefactStore(tmp_path).path(package).read_bytes() == b"firmware", "before anybody moved anything"
    assert [(one.digest, one.name) for one in images_in(ArtefactStore(tmp_path))] == [(image.digest, "small")]
    assert not (tmp_path / "sha256").exists()
    assert is_whole(store, parse_manifest(store.path(image.digest).read_bytes()))
    index = json.loads((tmp_path / "index.json").read_text())
    assert [one["digest"] for one in index["manifests"]] == [image.digest]
    assert store.path(package).read_bytes() == b"firmware"


def test_the_digest_of_an_image_before_oci_is_what_it_was() -> None:
    """As the release before printed it for these bytes."""
    root = Artefact("root", Digest(f"sha256:{'1' * 64}"), 1)
    image = ImageManifest("debian", "x86_64", (root,), BOOTABLE, {"lock": "sha256:l"}, old_schema=True)
    text = (
        '{"arch":"x86_64","artefacts":[{"digest":"sha256:' + "1" * 64 + '","role":"root","size_bytes":1}],'
        '"bootable":{"command_line":["boot=firstlight"],"kernel_abi":"6.1.0-1-amd64","method":"uki_http",'
        '"overlay_mib":512,"secure_boot":false,"verity_offset_bytes":4096,"verity_root_hash":"' + "ab" * 32 + '"},'
        '"made_from":{"lock":"sha256:l"},"name":"debian","schema":"firstlight.image/1"}'
    )
    assert image.canonical_json().decode() == text
    assert parse_manifest(text.encode()) == image


def test_a_lost_index_is_written_from_the_files(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    images = {published(store, mark).digest for mark in "ab"}
    before = read_index(store)
    (tmp_path / "index.json").unlink()
    assert read_index(store) == before
    assert {one.digest for one in before} == images
    (tmp_path / "index.json").write_text("{")
    with pytest.raises(IndexUnreadableError, match=r"index\.json: .*move it away, and it is written anew"):
        read_index(store)


@pytest.mark.parametrize("number", range(6))
def test_a_writer_that_is_killed_leaves_nothing_half(tmp_path: Path, number: int) -> None:
    """At whatever moment: each blob is whole, and each image in the index has all that it names."""
    root = tmp_path / "store"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert writer.stdout is not None
    for _ in range(number + 1):
        writer.stdout.readline()
    unfinished = root / "tmp"
    if number % 2:
        wait(lambda: any(one.name.startswith("blob-") for one in unfinished.iterdir()))
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    for path in (root / "blobs" / "sha256").iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    found = read_as_oci(root)
    assert len(found) >= number + 1
    store = ArtefactStore(root)
    assert is_whole(store, published(store, "after"))
