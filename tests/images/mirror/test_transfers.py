"""Packages by digest from mirrors that break off, lie, lag and vanish."""

import random
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest

from images.mirror.cache import MirrorCache
from images.mirror.errors import MirrorError
from tests.images.mirror.apt_repository import PAYLOAD_BYTES
from tests.images.mirror.order import Order
from tests.images.mirror.package_mirror import Fault, PackageMirror, nobody
from tests.images.mirror.site import QUICK, MirrorSite

KMOD, LIBC = "kmod_30-1", "libc6_2.36-9"


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


def test_a_mirror_that_sends_another_part_is_asked_from_the_start(order: Order, mirror: PackageMirror) -> None:
    mirror.faults[KMOD] = Fault(cut_after_bytes=20_000, times=1)
    mirror.faults["kmod_"] = Fault(shift=7, times=1)
    order.fetch()
    assert mirror.asked(KMOD) == [0, 20_000, 0]


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
