"""Kernel modules built for real: Debian's own headers and compiler, a kernel that does not run here, the site's key."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from images.boot_program.signing import SigningPair
from images.mirror.errors import MirrorError
from images.mirror.host_sources import host_sources
from images.mirror.index import FetchedIndex, fetch_index
from images.mirror.packages import fetch_packages
from images.mirror.source import Source
from images.modules.compile import compile_key
from images.modules.errors import StageFailedError
from images.modules.key import certificate_pem, load_certificate
from images.modules.module_info import module_info
from images.modules.request import ModuleStage
from images.modules.signature import is_signed_by
from images.modules.stage import build_module_package
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.load import load_images
from profiles.images.lock import Lock
from profiles.images.resolve import resolve
from profiles.loader import SHIPPED
from tests.images.driver_repository import build_package, module_source
from tests.images.kernel_modules import VERMAGIC, signing_pair
from tests.requirements import need

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy")]

DRIVER = "535.309.01"
PROFILE = """\
name: standin
description: small modules in place of the driver's
extends: [gpu-r535-debian]
base: {components: {$replace: [main]}}
gpu:
  packages:
    mirror: vendor
    driver: {$replace: [nvidia-driver-cuda]}
    module_source: standin-dkms
"""


@dataclass(frozen=True, slots=True)
class Workshop:
    """A site that builds modules; packages are fetched once for all tests."""

    folder: Path
    cache: Path
    pair: SigningPair

    def lock(self, source: Callable[[Path], object]) -> tuple[Lock, FetchedIndex]:
        """Resolve the stand-in profile with a source of modules."""
        debs = self.folder / "vendor"
        source(debs)
        build_package(debs, {"Package": "nvidia-driver-cuda", "Version": f"{DRIVER}-1"})
        path = self.folder / "standin.yaml"
        path.write_text(PROFILE)
        images, findings = load_images([*sorted((SHIPPED / "images").glob("*.yaml")), path])
        assert not findings
        image = images["standin"].profile
        assert isinstance(image, DebianImage)
        fetched = fetch_index(image, {"vendor": (Source(folder=debs),)}, self.cache)
        certificates = {"modules": certificate_pem(self.pair.certificate)}
        day = datetime.now(UTC).date()
        found = resolve(image, fetched.index, load_facts(), day, keys=fetched.keys, certificates=certificates)
        assert isinstance(found, Lock), found
        return found, fetched

    def stage(self, source: Callable[[Path], object], said: list[str]) -> ModuleStage:
        """Fetch what the stage needs."""
        lock, fetched = self.lock(source)
        assert lock.modules is not None
        needed = replace(lock, packages=(*lock.modules.tree, lock.modules.source), modules=None)
        repository = fetch_packages(needed, fetched.origins, self.cache, lambda *_: None)
        return ModuleStage(lock, repository, self.folder / "compiled", self.pair, said.append)


def has_sources() -> bool:
    try:
        return bool(host_sources("bookworm"))
    except MirrorError:
        return False


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need(has_sources(), "the apt sources of this host have no mirror of Debian")
    return tmp_path_factory.mktemp("packages")


@pytest.fixture
def workshop(cache: Path, tmp_path: Path) -> Workshop:
    return Workshop(tmp_path, cache, signing_pair(tmp_path))


def modules_in(package: Path, folder: Path) -> dict[str, bytes]:
    subprocess.run(["dpkg-deb", "--extract", package, folder], check=True, timeout=60)
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.ko"))}


def test_modules_are_for_the_named_kernel_signed_and_the_same_in_another_folder(
    workshop: Workshop, tmp_path: Path
) -> None:
    """NVIDIA/open-gpu-kernel-modules#791: dkms in a chroot takes the running kernel. Two at once compile once."""
    said: list[str] = []
    stage = workshop.stage(lambda folder: module_source(folder, DRIVER), said)
    one, other = build_at_once(stage, tmp_path / "one", tmp_path / "other")
    assert one.read_bytes() == other.read_bytes()
    assert sorted(said) == [
        "another build compiles the same kernel modules; waiting for it",
        f"compiling standin-dkms {DRIVER}-1 for 6.1.0-57-amd64; this takes minutes",
    ]
    modules = modules_in(one, tmp_path / "unpacked")
    assert list(modules) == ["nvidia-current-uvm.ko", "nvidia-current.ko"]
    for content in modules.values():
        info = module_info(content)
        assert (info.vermagic, info.version) == (VERMAGIC.strip(), DRIVER)
        assert is_signed_by(content, load_certificate(workshop.pair.certificate))

    elsewhere = tmp_path / "another-place"
    elsewhere.mkdir()
    again = build_module_package(replace(stage, cache=elsewhere / "compiled"), elsewhere)
    assert len(said) == 3
    assert again.read_bytes() == one.read_bytes()

    another = signing_pair(tmp_path, "next")
    resigned = build_module_package(signed_with(stage, another), elsewhere)
    assert len(said) == 3, "another key does not compile again"
    found = modules_in(resigned, tmp_path / "resigned").values()
    assert all(is_signed_by(content, load_certificate(another.certificate)) for content in found)


def test_a_module_that_does_not_compile_fails_with_the_compilers_line(workshop: Workshop, tmp_path: Path) -> None:
    """Debian 13: nvidia-open-kernel-dkms 550.163.01 against 6.12.118, after minutes, somewhere in a long log."""
    stage = workshop.stage(lambda folder: module_source(folder, DRIVER, begin="pci_resize_resource(NULL)"), [])
    with pytest.raises(StageFailedError) as caught:
        build_module_package(stage, tmp_path)
    told = caught.value.what
    assert told.startswith(f"standin-dkms {DRIVER}-1 does not compile for 6.1.0-57-amd64: nvidia.c:6:")
    assert "error: implicit declaration of function" in told
    assert "pci_resize_resource" in told
    assert str(caught.value).endswith(f"log: {caught.value.log}")
    assert "make" in caught.value.log.read_text(errors="replace")
    assert not list(tmp_path.glob("*.deb"))
    left = {path.name for path in (tmp_path / "compiled").iterdir()}
    assert left == {f"{compile_key(stage)}.log", f"{compile_key(stage)}.lock"}


def build_at_once(stage: ModuleStage, *folders: Path) -> list[Path]:
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(len(folders)) as pool:
        return list(pool.map(lambda folder: build_module_package(stage, folder), folders))


def signed_with(stage: ModuleStage, pair: SigningPair) -> ModuleStage:
    driver = stage.lock.driver
    assert driver is not None
    locked = replace(stage.lock, driver=replace(driver, certificate=certificate_pem(pair.certificate)))
    return replace(stage, lock=locked, signing=pair)
