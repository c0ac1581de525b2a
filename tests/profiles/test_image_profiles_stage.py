"""Kernel modules that are built before the image: what a lock says of them."""

from pathlib import Path

import pytest

from profiles.images.debian import DebianImage
from profiles.images.lock import Lock, LockedModules
from profiles.images.package_index import PackageIndex
from profiles.images.resolve import Refused, resolve
from tests.profiles.image_files import gpu
from tests.profiles.package_files import DRIVER, KERNEL, index_of
from tests.profiles.test_image_profiles_lock import DAY, FACTS, lock, reasons

SOURCE = f"nvidia-kernel-dkms {DRIVER}-1 Depends: gsp (= {DRIVER}), dkms (>= 3.0.3), support\n"
PROVIDES = f"Provides: nvidia-kernel-{DRIVER}, nvidia-kernel-dkms-any (= {DRIVER})"
TOOLS = (
    "linux-headers-6.1.0-57-amd64 6.1.192-3 Depends: linux-compiler-gcc-12-x86",
    "linux-compiler-gcc-12-x86 6.1.192-3 Depends: gcc-12",
    "gcc-12 12.2.0-14",
    "dkms 3.0.10-8 Depends: gcc-12, make",
    "make 4.3-4",
    f"gsp {DRIVER}-1 Provides: gsp (= {DRIVER})",
    "support 1.0",
)
WHOLE = f"nvidia-driver {DRIVER}-1 Depends: nvidia-kernel-dkms (= {DRIVER}-1) | nvidia-kernel-{DRIVER}"


def staged(folder: Path, *changes: tuple[str, str]) -> DebianImage:
    return gpu(
        folder,
        ("delivery: prebuilt", "delivery: stage, sign_key: site"),
        ("[nvidia-driver-cuda, nvidia-modules]", "[nvidia-driver-cuda]\n    module_source: nvidia-kernel-dkms"),
        *changes,
    )


def index(*added: str, source: str = SOURCE, tools: tuple[str, ...] = TOOLS) -> PackageIndex:
    return index_of(source + PROVIDES, *tools, *added, without="nvidia-modules")


def modules(found: Lock) -> LockedModules:
    assert found.modules is not None
    return found.modules


def test_everything_that_compiles_is_locked_and_nothing_of_it_is_in_the_image(tmp_path: Path) -> None:
    """NVIDIA/open-gpu-kernel-modules#791: dkms takes the running kernel; so it runs apart, for a kernel by name."""
    locked = lock(staged(tmp_path), index())
    stage = modules(locked)
    assert [f"{one.name} {one.version}" for one in stage.tree] == [
        "dkms 3.0.10-8",
        "dpkg 1.21",
        "gcc-12 12.2.0-14",
        "libc6 2.36-9",
        "linux-compiler-gcc-12-x86 6.1.192-3",
        "linux-headers-6.1.0-57-amd64 6.1.192-3",
        "make 4.3-4",
    ]
    assert (stage.source.name, stage.source.version) == ("nvidia-kernel-dkms", f"{DRIVER}-1")
    assert all(len(one.sha256) == 64 for one in (stage.source, *stage.tree))
    shipped = {one.name for one in locked.packages}
    assert not shipped & {"dkms", "gcc-12", "make", "nvidia-kernel-dkms", "linux-headers-6.1.0-57-amd64", stage.package}


def test_the_built_package_needs_and_provides_what_its_source_does_without_the_compiler(tmp_path: Path) -> None:
    stage = modules(lock(staged(tmp_path), index()))
    assert (stage.package, stage.version) == ("nvidia-kernel-6.1.0-57-amd64", f"{DRIVER}-1")
    assert stage.depends == f"{KERNEL} (= 6.1.192-3), kmod, gsp (= {DRIVER}), support"
    assert stage.provides == f"nvidia-kernel-{DRIVER}"


def test_what_the_built_package_needs_is_in_the_image(tmp_path: Path) -> None:
    assert {"gsp", "support"} <= {one.name for one in lock(staged(tmp_path), index()).packages}
    without = tuple(one for one in TOOLS if not one.startswith("support"))
    told = reasons(staged(tmp_path), index(tools=without))
    assert told["gpu.packages.module_source: dependency-missing"].startswith("nvidia-kernel-6.1.0-57-amd64 needs supp")


def test_a_driver_that_needs_modules_by_name_takes_the_built_ones(tmp_path: Path) -> None:
    """Debian 12's nvidia-driver: nvidia-kernel-dkms (= V) | nvidia-kernel-V."""
    image = staged(tmp_path, ("[nvidia-driver-cuda]", "[nvidia-driver]"))
    names = {one.name for one in lock(image, index(WHOLE)).packages}
    assert "nvidia-driver" in names
    assert "nvidia-kernel-dkms" not in names


@pytest.mark.parametrize(("line", "change"), [("gcc-12 12.2.0-14", "gcc-12 12.2.0-15"), ("make 4.3-4", "make 4.3-5")])
def test_another_compiler_is_another_lock(tmp_path: Path, line: str, change: str) -> None:
    tools = tuple(change if one == line else one for one in TOOLS)
    assert lock(staged(tmp_path), index(tools=tools)).digest != lock(staged(tmp_path), index()).digest


@pytest.mark.parametrize(
    ("without", "field", "text"),
    [
        ("linux-headers", "kernel.package: package-missing", "the package index has no linux-headers-6.1.0-57-amd64"),
        ("dkms", "gpu.packages.module_source: package-missing", "the package index has no dkms"),
        (
            "make",
            "gpu.packages.module_source: dependency-missing",
            "the tree that modules are built in lacks something: dkms needs make",
        ),
    ],
)
def test_a_stage_without_its_tools_is_refused(tmp_path: Path, without: str, field: str, text: str) -> None:
    tools = tuple(one for one in TOOLS if not one.startswith(without))
    assert reasons(staged(tmp_path), index(tools=tools))[field].startswith(text)


def test_headers_of_another_build_of_the_kernel_are_refused(tmp_path: Path) -> None:
    tools = tuple(one.replace("amd64 6.1.192-3", "amd64 6.1.190-1") for one in TOOLS)
    told = reasons(staged(tmp_path), index(tools=tools))
    assert told["kernel.package: version-missing"].endswith("linux-headers-6.1.0-57-amd64 6.1.190-1, not 6.1.192-3")


def test_source_of_another_driver_is_refused(tmp_path: Path) -> None:
    """NVIDIA driver guide: user-space libraries and kernel modules are of one version."""
    told = reasons(staged(tmp_path), index(source=SOURCE.replace(DRIVER, "580.95.05")))
    assert told["gpu.packages.module_source: version-missing"].endswith(f"580.95.05-1, not {DRIVER}")


def test_an_image_with_built_packages_has_no_stage(tmp_path: Path) -> None:
    found = resolve(gpu(tmp_path), index_of(), FACTS, DAY)
    assert isinstance(found, Lock)
    assert found.modules is None


def test_the_key_that_signs_is_locked_and_another_one_is_another_lock(tmp_path: Path) -> None:
    """What a node trusts is the key; a cache that forgot it would hand out modules that no node loads."""
    found = [resolve(staged(tmp_path), index(), FACTS, DAY, certificates={"site": one}) for one in ("first", "second")]
    locks = [one for one in found if isinstance(one, Lock)]
    assert [one.driver.certificate for one in locks if one.driver] == ["first", "second"]
    assert len({one.digest for one in locks}) == 2


def test_a_key_that_the_site_lacks_is_refused(tmp_path: Path) -> None:
    found = resolve(staged(tmp_path), index(), FACTS, DAY, certificates={"boot": "pem"})
    assert isinstance(found, Refused)
    (reason,) = found.reasons
    assert (reason.field, reason.name) == (("gpu", "driver", "sign_key"), "sign-key-missing")
    assert reason.text == ("the site has no signing key site; it has boot: name it under signing_keys of site.yaml")
