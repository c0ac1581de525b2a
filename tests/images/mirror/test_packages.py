"""The cache of packages and the repository that is made of them, and a disk that is too small."""

import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from images.mirror.cache import MirrorCache
from images.mirror.errors import MirrorError
from images.mirror.packages import fetch_packages
from tests.images.mirror.apt_repository import Suite, build_deb
from tests.images.mirror.order import Order
from tests.images.mirror.package_mirror import PackageMirror
from tests.images.mirror.site import QUICK, MirrorSite
from tests.requirements import need


def apt(folder: Path, root: Path, *words: str) -> str:
    """Run the real apt against the repository alone, with nothing of this host's apt."""
    for name in ("lists/partial", "cache/archives/partial"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "sources.list").write_text(f"deb [trusted=yes] copy:{folder} ./\n")
    (root / "status").touch()
    options = [
        f"Dir::Etc::SourceList={root}/sources.list",
        "Dir::Etc::SourceParts=/dev/null",
        "Dir::Etc::Parts=/dev/null",
    ]
    options += [f"Dir::State::Lists={root}/lists", f"Dir::State::Status={root}/status", f"Dir::Cache={root}/cache"]
    options += ["APT::Architecture=amd64", "APT::Architectures=amd64", "APT::Sandbox::User=root"]
    options += ["APT::Install-Recommends=false", "Debug::NoLocking=true"]
    command = ["apt-get", *(word for option in options for word in ("-o", option)), "-y", "-q", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_apt_installs_exactly_the_lock_from_the_repository(order: Order, tmp_path: Path) -> None:
    """The real apt, with no other source: what a build without a network will do."""
    folder = order.fetch()
    apt(folder, tmp_path / "apt", "update")
    names = [one.name for one in order.lock.packages]
    told = apt(folder, tmp_path / "apt", "install", "--simulate", "linux-image-6.1.0-57-amd64", "udev", "kmod")
    installed = {line.split()[1] for line in told.splitlines() if line.startswith("Inst ")}
    assert installed == set(names) - {"dpkg"}
    apt(folder, tmp_path / "apt", "download", "--print-uris", *names)
    assert sorted(path.name.split("_")[0] for path in folder.glob("*.deb")) == names


def test_packages_are_linked_and_not_fetched_twice(order: Order, mirror: PackageMirror) -> None:
    folder = order.fetch()
    total = sum(one.size_bytes for one in order.lock.packages)
    assert order.reports[-1][:2] == (total, total)
    assert {name for _, _, name in order.reports} == {f"{one.name} {one.version}" for one in order.lock.packages}
    mirror.requests.clear()
    written = (folder / "Packages").stat().st_ino
    assert order.fetch() == folder
    assert (mirror.requests, (folder / "Packages").stat().st_ino) == ([], written)
    package = order.lock.packages[0]
    assert next(folder.glob(f"{package.name}_*")).samefile(MirrorCache(order.site.cache).package(package.sha256))
    assert order.parts() == []


def test_equal_locks_make_equal_repositories(order: Order) -> None:
    one = order.fetch()
    first = {path.name: path.read_bytes() for path in one.iterdir()}
    shutil.rmtree(order.site.cache)
    assert {path.name: path.read_bytes() for path in order.fetch().iterdir()} == first


def test_a_repository_that_lost_a_file_is_made_again(order: Order) -> None:
    folder = order.fetch()
    gone = next(folder.glob("kmod_*"))
    gone.unlink()
    order.fetch()
    assert gone.exists()
    (folder / "Packages").write_text("")
    assert order.fetch().joinpath("Packages").stat().st_size > 1000


def test_a_package_that_rots_in_the_cache_is_fetched_again(order: Order, mirror: PackageMirror) -> None:
    folder = order.fetch()
    kmod = next(folder.glob("kmod_*"))
    content = bytearray(kmod.read_bytes())
    content[5000] ^= 1
    kmod.write_bytes(content)
    mirror.requests.clear()
    order.fetch()
    assert [path for path, _ in mirror.requests] == ["/pool/kmod_30-1_amd64.deb"]
    assert next(folder.glob("kmod_*")).read_bytes() == (order.site.debs / "kmod_30-1_amd64.deb").read_bytes()


def test_a_package_that_the_mirror_no_longer_offers_is_named(order: Order) -> None:
    order.fetched = replace(order.fetched, origins={})
    with pytest.raises(MirrorError, match=r"kmod 30-1: no mirror has it \(sha256 [0-9a-f]{64}\); resolve the profile"):
        order.fetch()


def test_a_package_that_the_index_no_longer_names_is_looked_for_where_it_was(
    site: MirrorSite, mirror: PackageMirror
) -> None:
    """An image of last week is built again: the mirror has a newer version, and keeps the old file for a while."""
    order = Order(site, mirror)
    newer = build_deb(site.debs, "kmod 30-2 Depends: libc6")
    site.publish(Suite(), *(one for one in site.debs.glob("*.deb") if one.name != "kmod_30-1_amd64.deb"))
    order.fetched = site.index(site.source(mirror))
    assert (order.fetch() / "kmod_30-1_amd64.deb").exists()
    shutil.rmtree(site.cache / "packages")
    old = site.root / "pool" / "kmod_30-1_amd64.deb"
    old.unlink()
    old.write_bytes(newer.read_bytes())
    with pytest.raises(MirrorError, match=r"kmod 30-1: http://\S+/pool/kmod_30-1_amd64\.deb (has|gives)"):
        order.fetch()


def test_a_package_in_a_folder_of_this_host_is_copied_and_checked(site: MirrorSite) -> None:
    order = Order(site, f"file:{site.root}")
    kmod = site.root / "pool" / "kmod_30-1_amd64.deb"
    whole = kmod.read_bytes()
    kmod.unlink()
    kmod.write_bytes(whole[:-1] + b"?")
    (site.root / "pool" / "libc6_2.36-9_amd64.deb").unlink()
    with pytest.raises(MirrorError) as caught:
        order.fetch()
    told = sorted(caught.value.reasons)
    assert told[0].startswith(f"kmod 30-1: {kmod} gives other bytes")
    assert "libc6_2.36-9_amd64.deb No such file or directory" in told[1]
    kmod.write_bytes(whole)
    (site.root / "pool" / "libc6_2.36-9_amd64.deb").hardlink_to(site.debs / "libc6_2.36-9_amd64.deb")
    assert (order.fetch() / kmod.name).read_bytes() == whole


def test_an_index_that_calls_a_package_by_another_name_is_refused(site: MirrorSite, mirror: PackageMirror) -> None:
    """The bytes are those that the index says, and they are something else than it says."""
    index = mirror.root / "dists" / "bookworm" / "main" / "binary-amd64" / "Packages"
    site.publish(Suite(index=index.read_bytes().replace(b"Version: 30-1\n", b"Version: 30-7\n")))
    order = Order(site, mirror)
    with pytest.raises(
        MirrorError, match="kmod: the package is kmod 30-1 amd64, the mirror's index calls it kmod 30-7"
    ):
        order.fetch()
    assert not (site.cache / "repositories").exists()


def test_two_builds_at_once_fetch_each_package_once(order: Order, mirror: PackageMirror) -> None:
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(order.fetch())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(folders)) == 1
    assert len(folders) == 3
    assert set(Counter(path for path, _ in mirror.requests if "/pool/" in path).values()) == {1}


@pytest.fixture
def small_disk(order: Order) -> Iterator[Path]:
    """The cache on a disk of 512 KiB."""
    disk = order.site.cache
    shutil.rmtree(disk)
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    need(subprocess.run(command, capture_output=True).returncode == 0, "a disk of its own: run as root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_without_room_is_noticed_before_anything_is_fetched(
    order: Order, mirror: PackageMirror, small_disk: Path
) -> None:
    (small_disk / "other").write_bytes(bytes(300_000))
    mirror.requests.clear()
    with pytest.raises(MirrorError, match=rf"{small_disk}: the packages need 0\.\d MiB, 0\.\d MiB are free; make room"):
        order.fetch()
    assert mirror.requests == []


def test_a_disk_that_fills_up_meanwhile_is_named_and_nothing_is_lost(order: Order, small_disk: Path) -> None:
    """Somebody else writes while we do; when there is room again, it goes on."""
    other = small_disk / "other"

    def fill(done: int, _total: int, _name: str) -> None:
        if done > 100_000 and not other.exists():
            subprocess.run(["dd", "if=/dev/zero", f"of={other}"], capture_output=True, timeout=60)

    with pytest.raises(MirrorError) as caught:
        fetch_packages(order.lock, order.fetched.origins, order.site.cache, fill, patience=QUICK)
    assert caught.value.reasons[0].startswith(f"{small_disk}/p")
    assert "No space left on device" in caught.value.reasons[0]
    assert "make room" in caught.value.reasons[0]
    other.unlink()
    assert len(list(order.fetch().glob("*.deb"))) == len(order.lock.packages)
