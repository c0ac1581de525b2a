"""What a bundle's archive may hold: plain files of ours, named by something signed, and no more than there is."""

import io
import tarfile
from pathlib import Path

import pytest

from images.bundle.archive import Reader, Writer
from images.bundle.errors import BundleError
from tests.images.bundles import Isolated, Origin, make_keys, small_bundle


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_keys(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture
def origin(tmp_path: Path, keys: Path) -> Origin:
    return Origin(tmp_path / "origin", keys)


@pytest.fixture
def site(tmp_path: Path, keys: Path) -> Isolated:
    return Isolated(tmp_path / "site", keys)


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    "evil",
    [
        member("../../etc/passwd"),
        member("/etc/passwd"),
        member("blobs/sha256/../../../x"),
        member("tuf/../../x.json"),
        member("blobs/sha256/" + "A" * 64),
        member("blobs/sha256/" + "0" * 64, tarfile.SYMTYPE, "/etc/passwd"),
        member("blobs/sha256/" + "0" * 64, tarfile.LNKTYPE, "index.json"),
        member("blobs/sha256/" + "0" * 64, tarfile.DIRTYPE),
        member("blobs/sha256/" + "0" * 64, tarfile.FIFOTYPE),
        member("blobs/sha256/" + "0" * 64, tarfile.CHRTYPE),
        member("bundle.json"),
        member("name\nwith a line"),
    ],
    ids=lambda one: f"{one.name}-{one.type.decode()}",
)
def test_nothing_but_plain_files_of_ours_is_read(
    origin: Origin, site: Isolated, tmp_path: Path, evil: tarfile.TarInfo
) -> None:
    bundle = small_bundle(origin, tmp_path / "bundle")
    content = bundle.read_bytes()
    extra = io.BytesIO()
    with tarfile.open(fileobj=extra, mode="w", format=tarfile.USTAR_FORMAT) as made:
        evil.size = 1 if evil.isreg() else 0
        made.addfile(evil, io.BytesIO(b"x") if evil.isreg() else None)
    (tmp_path / "evil").write_bytes(content[:-1024] + extra.getvalue())
    with pytest.raises(BundleError):
        site.take(tmp_path / "evil")
    assert site.visible() == (set(), {}, None)
    assert not (tmp_path / "x").exists()


def test_a_file_that_nothing_names_is_refused(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    content = small_bundle(origin, tmp_path / "bundle").read_bytes()
    extra = io.BytesIO()
    writer = Writer(extra)
    writer.add("blobs/sha256/" + "1" * 64, io.BytesIO(b"y"), 1)
    writer.finish()
    (tmp_path / "more").write_bytes(content[:-1024] + extra.getvalue())
    with pytest.raises(BundleError, match="nothing that is signed names it"):
        site.take(tmp_path / "more")
    (tmp_path / "tail").write_bytes(content + b"\0")
    with pytest.raises(BundleError, match="something follows"):
        site.take(tmp_path / "tail")
    (tmp_path / "text").write_text("no bundle at all, and longer than a block" * 30)
    with pytest.raises(BundleError, match="is no member of a bundle"):
        site.take(tmp_path / "text")
    assert site.visible() == (set(), {}, None)


def test_a_size_that_is_a_lie_costs_nothing() -> None:
    """A header may say 8 GiB; what is read is what is there."""
    header = io.BytesIO()
    Writer(header).add("bundle.json", io.BytesIO(b"x"), 1)
    block = bytearray(header.getvalue()[:512])
    block[124:135] = b"77777777777"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    reader = Reader(io.BytesIO(bytes(block) + b"x" * 512))
    members = reader.members()
    assert next(members).size_bytes == 8**11 - 1
    with pytest.raises(BundleError, match="cut off"):
        for _ in reader.chunks():
            pass
