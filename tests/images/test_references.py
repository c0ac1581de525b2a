"""A name stands for the image that was built last under it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from images.digest import digest_of
from images.references import Reference, ReferenceUnreadableError, read_reference, write_reference

ONE = Reference("debian-12-base", digest_of(b"one"), "sha256:p", "sha256:l", "sha256:b", "2030-01-01T00:00:00Z")


def test_the_last_one_written_is_read(tmp_path: Path) -> None:
    newer = replace(ONE, image=digest_of(b"two"))
    for reference in (ONE, newer):
        write_reference(tmp_path, reference)
        assert read_reference(tmp_path, ONE.name) == reference
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["debian-12-base.json"]


def test_what_was_never_built_has_none(tmp_path: Path) -> None:
    assert read_reference(tmp_path, "debian-12-base") is None


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"null", b"\xff", b'{"schema": "firstlight.image-reference/2"}', b'{"schema": 1, "name": "x"}'],
)
def test_a_damaged_file_is_named_with_a_way_out(tmp_path: Path, content: bytes) -> None:
    write_reference(tmp_path, ONE)
    path = tmp_path / "images" / "debian-12-base.json"
    path.chmod(0o644)
    path.write_bytes(content)
    with pytest.raises(ReferenceUnreadableError, match=r"debian-12-base\.json.*firstlight image build debian-12-base"):
        read_reference(tmp_path, ONE.name)


@pytest.mark.parametrize("change", [{"image": "sha256:short"}, {"name": "another"}, {"more": 1}])
def test_a_file_with_other_content_is_no_reference(tmp_path: Path, change: dict[str, object]) -> None:
    write_reference(tmp_path, ONE)
    path = tmp_path / "images" / "debian-12-base.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ReferenceUnreadableError):
        read_reference(tmp_path, ONE.name)


@pytest.mark.parametrize("name", ["", "../secret", ".hidden", "a/b"])
def test_a_name_leads_out_of_no_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name of an image"):
        read_reference(tmp_path, name)
