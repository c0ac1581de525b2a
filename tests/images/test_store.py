"""The artefact store: what it holds is what was put, under its digest, once."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from images.digest import Digest, DigestError, digest_of, parse_digest
from images.store import ArtefactAbsentError, ArtefactCorruptError, ArtefactStore

CONTENT = b"an image" * 1000


def test_what_was_put_lies_under_its_digest(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    digest = store.put_bytes(CONTENT)
    digits = digest.removeprefix("sha256:")
    assert store.path(digest) == tmp_path / "blobs" / "sha256" / digits
    assert store.verify(digest).read_bytes() == CONTENT


def test_a_file_and_its_bytes_are_one_artefact(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    store = ArtefactStore(tmp_path / "store")
    assert store.put_file(source) == store.put_bytes(CONTENT) == digest_of(CONTENT)


def test_a_file_of_other_content_than_expected_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    with pytest.raises(ArtefactCorruptError, match="expected"):
        ArtefactStore(tmp_path / "store").put_file(source, digest_of(b"other"))
    assert not (tmp_path / "store").exists()


def test_an_artefact_that_is_present_is_left_as_it_is(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    before = store.path(store.put_bytes(CONTENT)).stat()
    after = store.path(store.put_bytes(CONTENT)).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_cut_short_by_a_power_loss_is_written_anew(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    path = store.path(store.put_bytes(CONTENT))
    path.chmod(0o644)
    path.write_bytes(CONTENT[:100])
    assert store.verify(store.put_bytes(CONTENT)).read_bytes() == CONTENT


def test_changed_bytes_are_found(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    digest = store.put_bytes(CONTENT)
    store.path(digest).chmod(0o644)
    store.path(digest).write_bytes(CONTENT.replace(b"image", b"imago", 1))
    with pytest.raises(ArtefactCorruptError):
        store.verify(digest)


def test_an_absent_artefact_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ArtefactAbsentError, match="not in"):
        ArtefactStore(tmp_path).path(digest_of(b"absent"))


def test_many_writers_of_one_artefact_leave_one_whole_file(tmp_path: Path) -> None:
    content = CONTENT * 100
    store = ArtefactStore(tmp_path)
    writers = [threading.Thread(target=store.put_bytes, args=(content,)) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    path = store.verify(digest_of(content))
    assert list(path.parent.iterdir()) == [path]
    assert not list(store.unfinished.iterdir())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha256:",
        "sha256:" + "0" * 63,
        "sha256:" + "0" * 65,
        "sha256:" + "A" * 64,
        "sha256:" + "0" * 64 + "\n",
        "sha512:" + "0" * 64,
        "sha256:../../" + "0" * 58,
        "sha256:" + "\u0661" * 64,
        "0" * 64,
    ],
)
def test_anything_but_a_digest_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DigestError):
        parse_digest(text)
    with pytest.raises(DigestError):
        ArtefactStore(tmp_path).path(Digest(text))


@given(st.binary(max_size=5000))
def test_every_digest_parses(content: bytes) -> None:
    assert parse_digest(digest_of(content)) == digest_of(content)
