"""Packages by digest from mirrors that break off, lie, lag and vanish; and the repository that is made of them."""

import random
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from images.mirror.cache import MirrorCache
from images.mirror.errors import MirrorError
from images.mirror.index import FetchedIndex
from images.mirror.packages import fetch_packages
from images.mirror.patience import Patience
from profiles.images.lock import Lock
from tests.images.mirror.apt_repository import PAYLOAD_BYTES, Suite
from tests.images.mirror.package_mirror import Fault, PackageMirror, nobody
from tests.images.mirror.site import QUICK, MirrorSite
from tests.requirements import need

KMOD, LIBC = "kmod_30-1", "libc6_2.36-9"


class Order:
    """What is to be fetched, from which mirrors, and what was reported."""

    def __init__(self, site: MirrorSite, *mirrors: PackageMirror | str) -> None:
        self.site = site
        self.fetched: FetchedIndex = site.index(*(site.source(one) for one in mirrors))
        self.lock: Lock = site.lock(self.fetched)
        self.reports: list[tuple[int, int, str]] = []

    def fetch(self, patience: Patience = QUICK, lock: Lock | None = None) -> Path:
        return fetch_packages(lock or self.lock, self.fetched.origins, self.site.cache, self.report, patience=patience)

    def report(self, done: int, total: int, name: str) -> None:
        self.reports.append((done, total, name))

    def parts(self) -> list[int]:
        return [path.stat().st_size for path in (self.site.cache / "parts").glob("*")]

    def kept(self) -> int:
        return len(list((self.site.cache / "packages").rglob("*.deb")))


@pytest.fixture
def order(site: MirrorSite, mirror: PackageMirror) -> Order:
    """An order at a mirror that is well until a test says otherwise."""
    return Order(site, mirror)


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


def test_a_transfer_that_breaks_off_goes_on_where_it_was(order: Order, mirror: PackageMirror) -> None:
    mirror.faults[KMOD] = Fault(cut_after_bytes=20_000, times=2)
    order.fetch()
    assert mirror.asked(KMOD) == [0, 20_000, 40_000]
    assert order.reports[-1][0] == order.reports[-1][1]


def test_another_process_goes_on_where_a_build_was_ended(order: Order, mirror: PackageMirror) -> None:
    mirror.faults[KMOD] = Fault(cut_after_bytes=20_000)
    with pytest.raises(MirrorError, match=r"kmod 30-1: http://\S+ .*; try again when the mirror is back"):
        order.fetch(replace(QUICK, rounds=1))
    assert 20_000 in order.parts()
    mirror.faults.clear()
    mirror.requests.clear()
    order.fetch()
    assert mirror.asked(KMOD) == [20_000]


def test_another_mirror_goes_on_where_one_broke_off(site: MirrorSite, mirror: PackageMirror) -> None:
    with PackageMirror(site.root) as other:
        order = Order(site, mirror, other)
        mirror.faults["/pool/"] = Fault(cut_after_bytes=20_000)
        order.fetch()
        assert 20_000 in {start for path, start in other.requests if "/pool/" in path}


def test_a_mirror_that_knows_no_ranges_starts_again(order: Order, mirror: PackageMirror) -> None:
    mirror.ranges = False
    mirror.faults[KMOD] = Fault(cut_after_bytes=20_000, times=1)
    order.fetch()
    assert mirror.asked(KMOD) == [0, 20_000]


@pytest.mark.parametrize("seed", range(6))
def test_however_often_a_mirror_breaks_off_a_package_is_whole_or_absent(
    order: Order, mirror: PackageMirror, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        fault = Fault(cut_after_bytes=chance.randrange(PAYLOAD_BYTES), flip=chance.random() < 0.3, times=1)
        mirror.faults[chance.choice([KMOD, LIBC, "udev_252"])] = fault
        try:
            order.fetch(replace(QUICK, rounds=1))
        except MirrorError:
            continue
    mirror.faults.clear()
    folder = order.fetch()
    assert all((folder / deb.name).read_bytes() == deb.read_bytes() for deb in order.site.debs.glob("[ku]*.deb"))


def test_a_corrupt_package_is_taken_from_another_mirror(site: MirrorSite, mirror: PackageMirror) -> None:
    with PackageMirror(site.root) as other:
        order = Order(site, mirror, other)
        mirror.faults[KMOD] = Fault(flip=True)
        order.fetch()
        assert other.asked(KMOD) == [0]


def test_a_package_that_is_corrupt_everywhere_is_named_and_not_kept(order: Order, mirror: PackageMirror) -> None:
    mirror.faults[KMOD] = Fault(flip=True)
    with pytest.raises(MirrorError) as caught:
        order.fetch()
    (reason,) = caught.value.reasons
    assert reason.startswith(f"kmod 30-1: {mirror.url}/pool/kmod_30-1_amd64.deb gives other bytes (sha256 ")
    assert reason.endswith("; resolve the profile again, or name another mirror")
    assert (order.kept(), order.parts()) == (len(order.lock.packages) - 1, [])
    assert not (order.site.cache / "repositories").exists()


def test_a_part_that_another_mirror_spoilt_does_not_condemn_the_next(order: Order, mirror: PackageMirror) -> None:
    """The first bytes came from elsewhere and are wrong: the mirror is asked once more, from the start."""
    (kmod,) = (one for one in order.lock.packages if one.name == "kmod")
    part = MirrorCache(order.site.cache).part(kmod.sha256)
    part.parent.mkdir(exist_ok=True)
    part.write_bytes(bytes(10_000))
    order.fetch()
    assert mirror.asked(KMOD) == [10_000, 0]
    assert order.reports[-1][0] == order.reports[-1][1]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(status=404), "answers 404"),
        (Fault(status=403), "answers 403"),
        (Fault(more=b"x"), "bytes of it, where the index says"),
    ],
)
def test_packages_that_no_mirror_has_are_named_all_at_once(
    order: Order, mirror: PackageMirror, fault: Fault, told: str
) -> None:
    mirror.faults[KMOD] = mirror.faults[LIBC] = fault
    with pytest.raises(MirrorError) as caught:
        order.fetch()
    assert sorted(reason.split(":")[0] for reason in caught.value.reasons) == ["kmod 30-1", "libc6 2.36-9"]
    assert all(told in reason for reason in caught.value.reasons)
    assert len(mirror.asked(KMOD)) == 1, "what is not there is not asked for again"


def test_a_mirror_that_is_busy_is_asked_again(order: Order, mirror: PackageMirror) -> None:
    mirror.faults["/pool/"] = Fault(status=503, times=2)
    order.fetch()


def test_a_mirror_that_is_gone_is_not_asked_for_every_package(site: MirrorSite, mirror: PackageMirror) -> None:
    order = Order(site, mirror)
    with nobody() as gone:
        origins = {
            one: tuple(url.replace(mirror.url, gone) for url in urls) for one, urls in order.fetched.origins.items()
        }
        order.fetched = replace(order.fetched, origins=origins)
        with pytest.raises(MirrorError) as caught:
            order.fetch()
    assert len(caught.value.reasons) == 1
    assert "Cannot connect to host" in str(caught.value)


def test_the_mirror_that_failed_is_asked_last(site: MirrorSite, mirror: PackageMirror) -> None:
    with PackageMirror(site.root) as other:
        order = Order(site, mirror, other)
        mirror.faults["/pool/"] = Fault(status=502)
        order.fetch(replace(QUICK, at_once=1))
        assert len(mirror.asked("/pool/")) == 1
        assert len(other.asked("/pool/")) == len(order.lock.packages)


def test_a_mirror_that_trickles_is_left_for_another(site: MirrorSite, mirror: PackageMirror) -> None:
    """It answers and is alive, and a build would take all night."""
    quick = replace(QUICK, window=timedelta(seconds=0.3), slowest_bytes_per_second=20_000)
    with PackageMirror(site.root) as other:
        order = Order(site, mirror, other)
        mirror.faults[KMOD] = Fault(bytes_per_second=2_000)
        order.fetch(quick)
        assert len(other.asked(KMOD)) == 1
    mirror.faults[LIBC] = Fault(bytes_per_second=2_000)
    shutil.rmtree(site.cache / "packages")
    with pytest.raises(MirrorError, match="bytes a second"):
        Order(site, mirror).fetch(quick)


def test_a_mirror_that_falls_silent_is_not_waited_for(order: Order, mirror: PackageMirror) -> None:
    mirror.faults[KMOD] = Fault(bytes_per_second=10, times=1)
    order.fetch(replace(QUICK, silence=timedelta(milliseconds=60)))
    assert len(mirror.asked(KMOD)) == 2


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
