"""What mirrors offer, by signed indices over real HTTP; and every way in which an index is not believed."""

import base64
import hashlib
import lzma
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from images.mirror.cache import MirrorCache
from images.mirror.errors import MirrorError
from images.mirror.index import fetch_index
from images.mirror.source import Source
from tests.images.mirror.apt_repository import NOW, Suite, build_deb
from tests.images.mirror.package_mirror import Fault, PackageMirror, nobody
from tests.images.mirror.site import ASKING, MirrorSite, in_release
from tests.profiles.image_files import debian, gpu

LATER = "bookworm-security"


def test_a_signed_index_becomes_a_lock_that_names_the_key(site: MirrorSite, mirror: PackageMirror) -> None:
    fetched = site.index(site.source(mirror))
    lock = site.lock(fetched)
    assert lock.keys == fetched.keys == (site.signer.fingerprint,)
    assert [one.name for one in lock.packages][:3] == ["dpkg", "kmod", "libc6"]
    kmod = next(one for one in lock.packages if one.name == "kmod")
    assert fetched.origins[kmod.sha256] == (f"{mirror.url}/pool/kmod_30-1_amd64.deb",)
    assert kmod.sha256 == hashlib.sha256((site.debs / "kmod_30-1_amd64.deb").read_bytes()).hexdigest()


def test_an_index_that_has_not_changed_is_not_fetched_again(site: MirrorSite, mirror: PackageMirror) -> None:
    first = site.index(site.source(mirror))
    mirror.requests.clear()
    again = site.index(site.source(mirror))
    assert mirror.requests == [("/dists/bookworm/InRelease", 0)]
    assert again == first


def test_what_was_kept_of_an_index_and_is_damaged_is_fetched_again(site: MirrorSite, mirror: PackageMirror) -> None:
    first = site.index(site.source(mirror))
    (kept,) = (site.cache / "indices").iterdir()
    content = bytearray(kept.read_bytes())
    content[-10] ^= 1
    kept.write_bytes(content)
    assert site.index(site.source(mirror)) == first
    assert len(mirror.asked("Packages")) == 2


def test_the_newest_version_of_all_suites_wins(site: MirrorSite, mirror: PackageMirror) -> None:
    site.publish(Suite(LATER), build_deb(site.debs, "kmod 30-1+deb12u1 Depends: libc6"))
    fetched = site.index(site.source(mirror, suites=("{suite}", "{suite}-security")))
    assert [one.version for one in fetched.index["kmod"]] == ["30-1+deb12u1", "30-1"]
    assert "30-1+deb12u1" in {one.version for one in site.lock(fetched).packages}


@pytest.mark.parametrize("kinds", [("", ".gz"), ("",), (".xz",)])
def test_an_index_may_be_packed_in_any_way(site: MirrorSite, mirror: PackageMirror, kinds: tuple[str, ...]) -> None:
    site.publish(Suite(kinds=kinds))
    assert "kmod" in site.index(site.source(mirror)).index


def test_a_mirror_on_this_host_is_read_without_a_server(site: MirrorSite) -> None:
    fetched = site.index(site.source(f"file:{site.root}"))
    (package,) = fetched.index["kmod"]
    assert fetched.origins[package.sha256] == (str(site.root / "pool" / "kmod_30-1_amd64.deb"),)


def test_a_driver_comes_from_the_vendors_flat_repository(
    site: MirrorSite, mirror: PackageMirror, tmp_path: Path
) -> None:
    """NVIDIA publishes flat repositories: no suites, no components (sources.list(5), "exact path")."""
    vendor = tmp_path / "vendor"
    Suite("any", flat=True).write(vendor, [build_deb(site.debs, "nvidia-extra 1.0")], site.signer)
    image = gpu(tmp_path, ("  packages:\n", "  packages:\n    mirror: nvidia\n"))
    with PackageMirror(vendor) as other:
        sources = {"debian": (site.source(mirror),), "nvidia": (site.source(other, suites=("/",)),)}
        fetched = fetch_index(image, sources, site.cache, ASKING)
    (package,) = fetched.index["nvidia-extra"]
    assert fetched.origins[package.sha256] == (f"{other.url}/nvidia-extra_1.0_amd64.deb",)
    assert "kmod" in fetched.index
    del sources["nvidia"]
    with pytest.raises(MirrorError, match=r'gpu\.packages\.mirror: site\.yaml has no mirror "nvidia"'):
        fetch_index(image, sources, site.cache, ASKING)


def test_a_folder_of_packages_is_a_mirror(site: MirrorSite) -> None:
    """No signature is asked for: whoever may write there is trusted; the lock names no key."""
    fetched = site.index(Source(folder=site.debs))
    assert site.lock(fetched).keys == ()
    (package,) = fetched.index["kmod"]
    assert (package.filename, package.depends) == ("kmod_30-1_amd64.deb", "libc6")
    assert fetched.origins[package.sha256] == (str(site.debs / "kmod_30-1_amd64.deb"),)
    (site.debs / "kmod_30-1_amd64.deb").unlink()
    build_deb(site.debs, "kmod 30-2 Depends: libc6")
    again = site.index(Source(folder=site.debs))
    assert [one.version for one in again.index["kmod"]] == ["30-2"]


def test_files_that_are_no_packages_are_named_all_of_them(site: MirrorSite, tmp_path: Path) -> None:
    (site.debs / "broken.deb").write_bytes(b"not a package")
    kmod = site.debs / "kmod_30-1_amd64.deb"
    half = kmod.read_bytes()[:200]
    kmod.unlink()
    kmod.write_bytes(half)
    with pytest.raises(MirrorError) as caught:
        site.index(Source(folder=site.debs))
    broken, cut = caught.value.reasons
    assert broken.startswith(f"{site.debs}/broken.deb is no package that can be read: ")
    assert cut.startswith(f"{kmod} is no package that can be read: ")
    with pytest.raises(MirrorError, match=r"there are no \.deb files"):
        site.index(Source(folder=tmp_path / "absent"))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def changed_after_signing(site: MirrorSite) -> None:
    text = in_release(site).read_text()
    in_release(site).write_text(text.replace("Codename: bookworm", "Codename: bullseye"))


def nonsense_that_is_signed(site: MirrorSite) -> None:
    site.publish(Suite(index=b"Package: kmod\nVersion: 1\n"))


def bomb(site: MirrorSite) -> None:
    """The signed Release says how long the unpacked index is; the packed one holds more."""
    site.publish(Suite(index=b"Package: kmod\n"))
    packed = site.root / "dists" / "bookworm" / "main" / "binary-amd64" / "Packages.xz"
    big = lzma.compress(bytes(10_000_000))
    text = in_release(site).read_text().split("\n\n", 1)[1].split("-----BEGIN")[0]
    was = f"{hashlib.sha256(packed.read_bytes()).hexdigest()} {packed.stat().st_size}"
    packed.write_bytes(big)
    text = text.replace(was, f"{hashlib.sha256(big).hexdigest()} {len(big)}")
    in_release(site).write_bytes(site.signer.clear_sign(text.encode()))


def index_changed(site: MirrorSite) -> None:
    flip(site.root / "dists" / "bookworm" / "main" / "binary-amd64" / "Packages.xz")


REFUSALS: list[tuple[Callable[[MirrorSite], object], str]] = [
    (changed_after_signing, "InRelease: it was changed after .* signed it; ask another mirror"),
    (lambda site: in_release(site).write_text("<html>log in to the wireless network</html>"), "it has no signature"),
    (lambda site: in_release(site).unlink(), "InRelease answers 404; is the address right, and the suite there?"),
    (lambda site: site.publish(Suite(date=NOW + timedelta(days=2))), "has not come yet; set the clock"),
    (
        lambda site: site.publish(Suite(valid_until=NOW - timedelta(days=9))),
        "was valid until 2026-11-21 12:00 UTC: the mirror is no longer updated",
    ),
    (
        lambda site: in_release(site).write_bytes(site.signer.clear_sign(b"Codename: bookworm\n")),
        "it is no Release file with a Date and SHA256 digests",
    ),
    (lambda site: site.publish(Suite(arch="arm64")), r"has nothing for amd64 \(it has arm64\); name a mirror that has"),
    (
        lambda site: in_release(site).write_bytes(site.signer.clear_sign(b"Date: someday\nSHA256:\n")),
        "'someday' is no date",
    ),
    (nonsense_that_is_signed, "main/binary-amd64/Packages.xz: kmod: lacks Architecture, SHA256, Size"),
    (bomb, "Packages.xz unpacks to something else than the Release says"),
    (index_changed, r"Packages.xz gives other bytes \(sha256 [0-9a-f]+\) than the index says"),
]


@pytest.mark.parametrize(("breaks", "told"), REFUSALS)
def test_an_index_that_cannot_be_believed_is_refused(
    site: MirrorSite, mirror: PackageMirror, breaks: Callable[[MirrorSite], object], told: str
) -> None:
    """Nothing of it is kept: the right index is taken when it is there."""
    breaks(site)
    with pytest.raises(MirrorError, match=told) as caught:
        site.index(site.source(mirror))
    assert mirror.url in str(caught.value)
    site.publish()
    assert "kmod" in site.index(site.source(mirror)).index


def test_another_suite_under_the_name_is_refused(site: MirrorSite, mirror: PackageMirror) -> None:
    """A mirror that moved a codename to the next release, or an attacker who serves an old, signed suite."""
    (site.root / "dists" / "trixie").symlink_to("bookworm")
    with pytest.raises(MirrorError, match="trixie/InRelease: it is the Release of bookworm; correct the suite"):
        site.index(site.source(mirror, suites=("trixie",)))


def test_an_index_that_was_valid_at_the_snapshot_of_the_image_is_good(site: MirrorSite, mirror: PackageMirror) -> None:
    """The snapshot is 2026-11-29: a mirror of that day expires, and the image can be built again all the same."""
    site.publish(Suite(valid_until=NOW + timedelta(days=1)))
    late = replace(ASKING, now=NOW + timedelta(days=900))
    assert "kmod" in fetch_index(site.image, {"debian": (site.source(mirror),)}, site.cache, late).index


def test_a_mirror_in_the_middle_of_an_update_is_asked_once_more(site: MirrorSite, mirror: PackageMirror) -> None:
    mirror.faults["Packages.xz"] = Fault(flip=True, times=1)
    assert "kmod" in site.index(site.source(mirror)).index


def test_an_index_by_its_digest_is_asked_for_first(site: MirrorSite, mirror: PackageMirror) -> None:
    """wiki.debian.org/DebianRepository/Format, "Acquire-By-Hash"; a mirror may promise it and not have it."""
    site.publish(Suite(fields={"Acquire-By-Hash": "yes"}))
    site.index(site.source(mirror))
    assert [path.rpartition("/")[0].removeprefix("/dists/bookworm/main/") for path, _ in mirror.requests[1:]] == [
        "binary-amd64/by-hash/SHA256",
        "binary-amd64",
    ]


def test_a_component_that_no_suite_has_is_named(site: MirrorSite, mirror: PackageMirror) -> None:
    with pytest.raises(MirrorError, match='mirror debian: has no component "mian"; did you mean "main"'):
        site.index(site.source(mirror, components=("main", "mian")))


def test_one_of_two_mirrors_is_enough_and_the_other_is_told_of(site: MirrorSite, mirror: PackageMirror) -> None:
    with nobody() as gone:
        fetched = site.index(site.source(gone), site.source(mirror))
        (note,) = fetched.notes
        assert note.startswith(f"mirror debian: {gone}/dists/bookworm/InRelease Cannot connect to host")
        assert note.endswith("another mirror has it")
        with pytest.raises(MirrorError, match="Cannot connect to host"):
            site.index(site.source(gone))


def test_two_mirrors_that_answer_are_two_origins(site: MirrorSite, mirror: PackageMirror) -> None:
    with PackageMirror(site.root) as other:
        fetched = site.index(site.source(mirror), site.source(other))
    (package,) = fetched.index["kmod"]
    assert fetched.origins[package.sha256] == tuple(f"{one.url}/pool/kmod_30-1_amd64.deb" for one in (mirror, other))


def test_a_password_in_an_address_is_used_and_never_shown(site: MirrorSite, mirror: PackageMirror) -> None:
    mirror.authorization = f"Basic {base64.b64encode(b'site:hush').decode()}"
    url = mirror.url.replace("http://", "http://site:hush@")
    source = site.source(url)
    assert "kmod" in site.index(source).index
    assert "hush" not in repr(source)
    mirror.authorization = "another"
    with pytest.raises(MirrorError, match="InRelease answers 401") as caught:
        site.index(source)
    with nobody() as gone, pytest.raises(MirrorError) as unreachable:
        site.index(site.source(gone.replace("http://", "http://site:hush@")))
    assert "hush" not in str(caught.value) + str(unreachable.value)


@pytest.mark.parametrize("uri", ["ftp://one.example.test/debian", "one.example.test/debian", "http:///debian"])
def test_an_address_that_is_none_is_refused(site: MirrorSite, uri: str) -> None:
    with pytest.raises(MirrorError, match="is no address of a mirror; write http, https or file"):
        site.index(site.source(uri))


def test_a_mirror_that_the_site_does_not_name_is_refused(site: MirrorSite, tmp_path: Path) -> None:
    text = 'site.yaml has no mirror "debain"; did you mean "debian"?'
    (tmp_path / "other").mkdir()
    site.image = debian(tmp_path / "other", "plain")
    base = site.image.base.model_copy(update={"mirror": "debain"})
    site.image = site.image.model_copy(update={"base": base})
    with pytest.raises(MirrorError) as caught:
        site.index(Source(folder=site.debs))
    assert str(caught.value) == f"plain: base.mirror: {text}"


def test_a_cache_that_cannot_be_written_is_named(site: MirrorSite, mirror: PackageMirror) -> None:
    site.cache.write_text("a file is in the way")
    with pytest.raises(MirrorError, match=f"{site.cache}.*: (Not a directory|File exists).*put data_dir"):
        site.index(site.source(mirror))
    assert MirrorCache(site.cache).root.is_file()
