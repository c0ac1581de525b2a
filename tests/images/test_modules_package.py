"""What the stage hands on: a package that dpkg knows, and the line of the compiler where there is none."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from images.modules.compiler_line import compiler_line
from images.modules.package import module_folder, write_package
from images.modules.repository import ModuleSupply, repository_with_modules
from profiles.images.lock import LockedModules, LockedPackage
from tests.images.kernel_modules import ABI, module
from tests.images.test_modules_checks import LOCK
from tests.requirements import need

EPOCH = 1_795_910_400
SOURCE = LockedPackage("nvidia-kernel-dkms", "1:535.309.01-0+deb12u1", "amd64", "0" * 64, 1, "")
BUILT = LockedModules(
    package=f"nvidia-kernel-{ABI}",
    version=SOURCE.version,
    depends=f"linux-image-{ABI} (= 6.1.192-3), kmod",
    provides="nvidia-kernel-535.309.01",
    source=SOURCE,
    tree=(),
)
FILES = {f"{module_folder(ABI)}/nvidia-current.ko": module("nvidia")}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    need(Path("/usr/bin/dpkg-deb").exists(), "dpkg-deb is not installed")
    return write_package(replace(LOCK, epoch=EPOCH, modules=BUILT), BUILT, FILES, tmp_path)


def dpkg_deb(*arguments: object) -> str:
    return subprocess.run(["dpkg-deb", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def test_the_package_says_what_it_needs_and_stands_for(package: Path) -> None:
    assert package.name == f"nvidia-kernel-{ABI}_535.309.01-0+deb12u1_amd64.deb"
    said = dict(line.split(": ", 1) for line in dpkg_deb("--field", package).splitlines())
    assert (said["Package"], said["Version"]) == (BUILT.package, BUILT.version)
    assert (said["Depends"], said["Provides"]) == (BUILT.depends, BUILT.provides)


def test_its_files_are_roots_with_the_time_of_the_image(package: Path) -> None:
    (line,) = [one for one in dpkg_deb("--contents", package).splitlines() if one.endswith(".ko")]
    assert line.startswith("-rw-r--r-- root/root")
    assert "2026-11-29 00:00" in line
    assert line.endswith(f"./lib/modules/{ABI}/updates/nvidia-current.ko")


def test_equal_modules_are_equal_packages_wherever_they_are_packed(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir(mode=0o700)
    again = write_package(replace(LOCK, epoch=EPOCH, modules=BUILT), BUILT, FILES, other)
    assert again.read_bytes() == package.read_bytes()
    assert sorted(path.name for path in other.iterdir()) == [again.name]


def test_installing_it_tells_modprobe_where_modules_are(package: Path, tmp_path: Path) -> None:
    control = tmp_path / "control"
    dpkg_deb("--control", package, control)
    assert f"depmod {ABI}" in (control / "postinst").read_text()


def test_an_image_without_a_stage_gets_the_mirrors_repository(tmp_path: Path) -> None:
    asked = []

    def fetch(lock: object) -> Path:
        asked.append(lock)
        return tmp_path

    assert repository_with_modules(LOCK, ModuleSupply(fetch, {}, tmp_path / "none", asked.append)) == tmp_path
    assert asked == [LOCK]
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (
            [
                "  gcc-12 -Wp,-MMD,x.d -Werror=strict-prototypes -c -o nv-pci.o nvidia/nv-pci.c",
                "/var/lib/dkms/nvidia-current/550.163.01/build/nvidia/nv-pci.c: In function 'nv_resize_pcie_bars':",
                "/var/lib/dkms/nvidia-current/550.163.01/build/nvidia/nv-pci.c:237:9: error: too few arguments to "
                "function 'pci_resize_resource'",
                "make[3]: *** [/usr/src/linux-headers/scripts/Makefile.build:250: nv-pci.o] Error 1",
            ],
            "nvidia/nv-pci.c:237:9: error: too few arguments to function 'pci_resize_resource'",
        ),
        (
            ["a.c:1:10: fatal error: linux/absent.h: No such file or directory", "b.c:2:1: error: later"],
            "a.c:1:10: fatal error: linux/absent.h: No such file or directory",
        ),
        (
            ['ERROR: modpost: "absent" [/var/lib/dkms/x/1/build/x.ko] undefined!', "make: *** [m] Error 2"],
            'ERROR: modpost: "absent" [x.ko] undefined!',
        ),
        (["x", "make[1]: *** No rule to make target 'modules'.  Stop."], "make[1]: *** No rule to make target"),
        (["E: Unable to correct problems, you have held broken packages."], "E: Unable to correct problems"),
        (["all is well", "  cc -Wno-error: x"], None),
    ],
)
def test_the_line_that_says_why_is_found(log: list[str], line: str | None) -> None:
    """Debian 13: nvidia-open-kernel-dkms 550.163.01 against 6.12.118 fails in nv-pci.c."""
    found = compiler_line(log)
    assert found == line or (line is not None and found is not None and found.startswith(line))
