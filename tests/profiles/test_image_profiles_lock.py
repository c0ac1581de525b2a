"""From a profile and a mirror to a lock, or to every reason why not."""

import itertools
import json
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.debian_version import compare_versions, upstream
from profiles.images.driver_check import check_driver
from profiles.images.lock import Lock
from profiles.images.package_index import IndexFaultError, PackageIndex, package_index, read_packages
from profiles.images.resolve import Refused, resolve
from profiles.loader import SHIPPED, load_catalog
from tests.profiles.image_files import IMAGES, debian, gpu
from tests.profiles.package_files import DRIVER, KERNEL, PACKAGES, index_of, packages_text

DAY = date(2026, 11, 30)
FACTS = load_facts()
IMAGES_SHIPPED = [one for one in load_catalog(SHIPPED).images.values() if isinstance(one, DebianImage)]


def lock(image: DebianImage, index: PackageIndex | None = None) -> Lock:
    found = resolve(image, index_of() if index is None else index, FACTS, DAY)
    assert isinstance(found, Lock), found
    return found


def reasons(image: DebianImage, index: PackageIndex | None = None) -> dict[str, str]:
    found = resolve(image, index_of() if index is None else index, FACTS, DAY)
    assert isinstance(found, Refused)
    return {f"{'.'.join(map(str, one.field))}: {one.name}": one.text for one in found.reasons}


def test_a_lock_holds_everything_that_a_build_needs(tmp_path: Path) -> None:
    locked = lock(gpu(tmp_path))
    assert (locked.kernel.package, locked.kernel.version, locked.kernel.abi) == (KERNEL, "6.1.192-3", "6.1.0-57-amd64")
    assert locked.driver is not None
    assert locked.driver.version == DRIVER
    assert locked.driver.components == {"nvidia-fabricmanager": f"{DRIVER}-1"}
    assert locked.epoch == int(datetime(2026, 11, 29, tzinfo=UTC).timestamp())
    assert [f"{one.name} {one.version}" for one in locked.packages] == [
        "dpkg 1.21",
        "kmod 30-1",
        "libc6 2.36-9",
        f"{KERNEL} 6.1.192-3",
        f"nvidia-driver-cuda {DRIVER}-1",
        f"nvidia-fabricmanager {DRIVER}-1",
        f"nvidia-modules {DRIVER}-1",
        "rsyslog 8.2-1",
        "udev 252.39-1",
    ]
    written = json.loads(locked.canonical_json())
    assert written["schema"] == "firstlight.image-lock/1"
    assert all(len(one["sha256"]) == 64 and one["filename"] for one in written["packages"])
    assert written["profile"]["gpu"]["memory_mode"] == "not_applicable"


@given(seed=st.integers(0, 1000))
def test_a_lock_does_not_depend_on_the_order_of_the_index(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    image = debian(tmp_path_factory.getbasetemp(), "gpu")
    lines = list(PACKAGES)
    random.Random(seed).shuffle(lines)
    shuffled = package_index(read_packages(packages_text(lines)))
    assert lock(image, shuffled).digest == lock(image).digest


def test_words_for_people_do_not_change_a_lock_and_content_does(tmp_path: Path) -> None:
    plain = lock(gpu(tmp_path)).digest
    assert lock(gpu(tmp_path, ("a driver\n", "another word\nowner: x\n"))).digest == plain
    assert lock(gpu(tmp_path, ("  packages:", "  persistence: false\n  packages:"))).digest != plain
    newer = index_of("libc6 2.36-10")
    assert lock(gpu(tmp_path), newer).digest != plain


def test_a_lock_names_the_keys_that_signed_what_was_offered(tmp_path: Path) -> None:
    """Whoever reads a lock later can tell whose word it rests on; an index in a file has no signature."""
    plain = lock(gpu(tmp_path))
    signed = resolve(gpu(tmp_path), index_of(), FACTS, DAY, keys=("F00D", "BEEF", "F00D"))
    assert isinstance(signed, Lock)
    assert (plain.keys, signed.keys) == ((), ("BEEF", "F00D"))
    assert signed.digest != plain.digest
    assert json.loads(signed.canonical_json())["keys"] == ["BEEF", "F00D"]


def test_a_driver_without_a_version_is_the_newest_that_is_known(tmp_path: Path) -> None:
    image = gpu(tmp_path, (f', version: "{DRIVER}"', ""))
    told = reasons(image)
    assert told["gpu.packages.driver.0: version-missing"].endswith(f"{DRIVER}-1, not 580.178.04")


def test_a_kernel_by_its_meta_package_is_the_one_that_it_needs(tmp_path: Path) -> None:
    text = IMAGES["plain"] + "kernel: {package: linux-image-amd64, $remove: [version]}\n"
    locked = lock(debian(tmp_path, "plain", text))
    assert (locked.kernel.package, locked.kernel.abi, locked.driver) == (KERNEL, "6.1.0-57-amd64", None)


Change = tuple[tuple[str, str], ...]
NO_LOG = "udev needs default-log | log; the package index has none that fits"
REFUSALS: list[tuple[Change, Callable[[], PackageIndex], dict[str, str]]] = [
    (
        (("nvidia-driver-cuda", "nvidia-drivr-cuda"),),
        index_of,
        {
            "gpu.packages.driver.0: package-missing": "the package index has no nvidia-drivr-cuda; "
            'did you mean "nvidia-driver-cuda"?'
        },
    ),
    (
        (),
        lambda: index_of("nvidia-fabricmanager 580.95.05-1", without="nvidia-fabricmanager"),
        {
            "gpu.packages.fabric_manager: version-missing": "the package index has nvidia-fabricmanager 580.95.05-1, "
            f"not {DRIVER}"
        },
    ),
    (
        (("    fabric_manager: nvidia-fabricmanager\n", ""),),
        index_of,
        {
            "gpu.packages.fabric_manager: package-not-named": "hgx-h100 needs nvidia-fabricmanager, "
            "and no package of it is named"
        },
    ),
    (
        (("target:", "kernel: {version: '6.1.176-1'}\ntarget:"), ("nvidia-driver-cuda, ", "")),
        lambda: index_of(without="nvidia-modules"),
        {
            "gpu.packages.driver.0: package-missing": "the package index has no nvidia-modules; "
            'did you mean "nvidia-imex"?',
            "kernel.package: version-missing": f"the package index has {KERNEL} 6.1.192-3, not 6.1.176-1",
        },
    ),
    (
        (),
        lambda: index_of(
            f"nvidia-modules {DRIVER}-1 Depends: linux-image-6.1.0-50-amd64",
            "linux-image-6.1.0-50-amd64 6.1.176-1",
            without="nvidia-modules",
        ),
        {
            "gpu.packages.driver: modules-for-other-kernel": f"nvidia-modules {DRIVER}-1 holds modules for "
            "6.1.0-50-amd64; the kernel is 6.1.0-57-amd64",
            "kernel.package: two-kernels": "more than one kernel: linux-image-6.1.0-50-amd64 (by nvidia-modules), "
            f"{KERNEL}",
        },
    ),
    (
        (),
        lambda: index_of(f"nvidia-modules {DRIVER}-1", without="nvidia-modules"),
        {
            "gpu.packages.driver: modules-for-no-kernel": "none of nvidia-driver-cuda, nvidia-modules says for which "
            "kernel its modules are built"
        },
    ),
    (
        (),
        lambda: index_of("kmod 30-2 Depends: dkms, absent (>= 2), libc6 (<< 2)", "dkms 3.0", without="rsyslog"),
        {
            "packages.install.0: dependency-missing": NO_LOG,
            "packages.install.1: dependency-missing": "kmod needs libc6 (<< 2); libc6 2.36-9 is chosen",
            "packages.install.1: package-forbidden": "dkms compiles on the node for whatever kernel runs; "
            "kmod brings it",
        },
    ),
    (
        (("target:", "packages: {remove: [rsyslog]}\ntarget:"),),
        index_of,
        {"packages.install.0: dependency-missing": NO_LOG},
    ),
    (
        (("[H100]", "[V100]"), ("[hgx-h100]", "[pcie]")),
        index_of,
        {
            "gpu.driver.modules: proprietary-modules-required": "V100 (Volta 7.0) needs proprietary kernel modules, "
            "not open ones"
        },
    ),
]


@pytest.mark.parametrize(("changes", "index", "expected"), REFUSALS)
def test_every_reason_for_a_refusal_is_named(
    tmp_path: Path, changes: Change, index: Callable[[], PackageIndex], expected: dict[str, str]
) -> None:
    told = reasons(gpu(tmp_path, *changes), index())
    assert expected.items() <= told.items(), told


def test_nothing_is_taken_from_another_architecture(tmp_path: Path) -> None:
    arm = package_index(replace(one, arch="arm64") for found in index_of().values() for one in found)
    plain = debian(tmp_path, "plain")
    assert reasons(plain, arm) == {"arch: architecture-missing": "the package index has nothing for amd64"}
    other = [replace(one, arch="arm64", version="99") for found in index_of().values() for one in found]
    every = [one for found in index_of().values() for one in found]
    assert lock(plain, package_index([*every, *other])).digest == lock(plain).digest
    mixed = package_index(one if one.name == "kmod" else replace(one, arch="all") for one in every)
    assert len(lock(plain, mixed).packages) == 6


def test_the_version_of_nvlsm_comes_from_the_index_and_may_be_waived(tmp_path: Path) -> None:
    nvlsm = ("fabric_manager:", "nvlsm: nvlsm\n    fabric_manager:")
    board = (("[H100]", "[B200]"), ("[hgx-h100]", "[hgx-b200]"), nvlsm)
    assert {one.name for one in check_driver(gpu(tmp_path, *board), FACTS, DAY, {})} == {"nvlsm-version-unknown"}
    assert list(reasons(gpu(tmp_path, *board))) == ["gpu.packages.nvlsm: component-pairing-unknown"]
    waived = gpu(tmp_path, *board, ("target:", "waive: [{name: component-pairing-unknown, why: tested}]\ntarget:"))
    locked = lock(waived)
    assert locked.driver is not None
    assert locked.driver.components == {"nvidia-fabricmanager": f"{DRIVER}-1", "nvlsm": "2025.10.1-1"}


@pytest.mark.parametrize("image", IMAGES_SHIPPED, ids=lambda one: one.name)
def test_every_shipped_image_resolves_on_a_mirror_that_has_its_packages(image: DebianImage) -> None:
    arch = "arm64" if image.arch == "arm64" else "amd64"
    kernel = image.kernel.package if image.gpu else f"linux-image-6.1.0-57-{arch}"
    lines = [f"{kernel} 6.1.192-3"]
    lines += [] if image.gpu else [f"{image.kernel.package} 6.1.192-3 Depends: {kernel}"]
    lines += [f"{one.name} 1.0" for one in image.packages.install]
    if image.gpu:
        names = [*image.gpu.packages.driver, "nvidia-fabricmanager", "nvidia-imex"]
        lines += [f"{name} {image.gpu.driver.version}-1 Depends: {kernel}" for name in names]
        lines += [f"{kernel.replace('image', 'headers')} 6.1.192-3", "dkms 3.0.10", "kmod 30-1"]
        lines += [f"{image.gpu.packages.module_source} {image.gpu.driver.version}-1 Depends: dkms (>= 3)"]
    index = package_index(replace(one, arch=arch) for one in read_packages(packages_text(lines)))
    locked = lock(image, index)
    fabric = {"nvidia-imex"} if arch == "arm64" else {"nvidia-fabricmanager"}
    fabric = set() if image.target.platforms == ("pcie",) else fabric
    assert set(locked.driver.components if locked.driver else fabric) == fabric
    assert locked.kernel.abi == kernel.removeprefix("linux-image-")


VERSIONS = (
    "1.0 1.0~rc1 1.0-1 1.0-1~deb12u1 1.0-1+b1 1:0.9 1.0a 1.0.1 1.0+dfsg-2 1.00 1.0~ 1.0~~ "
    "580.95.05-1 580.126.20-1 1.0-1.1"
)


@pytest.mark.slow
def test_versions_are_in_dpkgs_order() -> None:
    """Debian Policy 5.6.12."""
    for one, other in itertools.combinations(VERSIONS.split(), 2):
        order = compare_versions(one, other)
        relation = "lt" if order < 0 else "gt" if order > 0 else "eq"
        assert subprocess.run(["dpkg", "--compare-versions", one, relation, other]).returncode == 0, (one, other)
        assert compare_versions(other, one) == -order


def test_the_vendors_version_is_what_the_distribution_wraps() -> None:
    assert [upstream(one) for one in ("1:580.95.05-1", "580.95.05", "2.4+really2.3-3")] == [
        "580.95.05",
        "580.95.05",
        "2.4+really2.3",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Version: 1\n", "a paragraph without a name: lacks Package, Architecture, SHA256, Size"),
        ("Package: a\nVersion: 1\nArchitecture: all\nSHA256: 12\nSize: 5\n", "a: SHA256 or Size is not one"),
    ],
)
def test_an_index_that_lacks_something_is_refused(text: str, told: str) -> None:
    with pytest.raises(IndexFaultError, match=told):
        list(read_packages(text))


def test_what_a_profile_removes_is_not_brought_back_by_a_dependency(tmp_path: Path) -> None:
    image = debian(tmp_path, "plain", IMAGES["plain"] + "packages: {remove: [libc6]}\n")
    assert "kmod needs libc6; the package index has none that fits" in reasons(image).values()


def test_a_name_is_provided_with_a_version_or_meets_no_demand_for_one(tmp_path: Path) -> None:
    """Debian Policy 7.5; in Debian 12 sysvinit-utils provides lsb-base (= 11.6)."""
    image = debian(tmp_path, "plain")
    demanding = ("udev 253 Depends: journal (>= 2)", "kmod 31 Depends: rsyslog")
    assert lock(image, index_of(*demanding, "rsyslog 9 Provides: journal (= 2)"))
    for provided in ("journal", "journal (= 1)"):
        told = reasons(image, index_of(*demanding, f"rsyslog 9 Provides: {provided}"))
        assert list(told.values()) == ["udev needs journal (>= 2); the package index has none that fits"]
