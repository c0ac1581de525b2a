"""Driver packages that come built, from a vendor's repository: what does not go together is refused with reasons."""

import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from images.building.image_tests import Subject, run_image_tests
from images.mirror.index import Asking, fetch_index
from images.mirror.packages import fetch_packages
from images.mirror.source import Source
from images.modules.checks import check_signatures, check_vermagic
from images.modules.key import certificate_pem, load_key
from images.modules.signature import sign_module
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock
from profiles.images.resolve import Refused, resolve
from tests.images.driver_repository import driver_packages
from tests.images.kernel_modules import ABI, VERMAGIC, module, signing_pair
from tests.images.mirror.apt_repository import NOW, Signer, Suite, build_debs
from tests.profiles.image_files import debian
from tests.profiles.package_files import DRIVER, PACKAGES

PROFILE = f"""\
name: gpu
description: a driver from its vendor
extends: [elder]
target: {{gpus: [H100], platforms: [hgx-h100]}}
kernel: {{lockdown: integrity}}
gpu:
  driver: {{branch: "580", version: "{DRIVER}", modules: open, delivery: prebuilt, sign_key: site}}
  memory_mode: not_applicable
  packages:
    mirror: vendor
    driver: [nvidia-driver-cuda, nvidia-kernel-open-modules, nvidia-persistenced]
    fabric_manager: nvidia-fabricmanager
tests:
  - {{id: module-vermagic, stage: build, kind: equals-lock}}
  - {{id: module-signature, stage: build, kind: equals-profile}}
"""
DISTRIBUTION = [line for line in PACKAGES if not line.startswith(("nvidia", "nvlsm"))]
CORE = module("nvidia", f"version={DRIVER}")


class Site:
    """A mirror of the distribution in a folder, and a vendor's signed repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pair = signing_pair(folder)
        self.image: DebianImage = debian(folder, "gpu", PROFILE)
        self._debs = build_debs(folder / "debian", DISTRIBUTION)
        self._signer = Signer(folder / "gpg")

    def offer(self, content: bytes = CORE, *, fabric_manager: str | None = None, abi: str = ABI) -> Lock | Refused:
        """Publish the vendor's packages, and resolve the image against both mirrors."""
        modules = {"nvidia.ko": content}
        debs = driver_packages(self.folder / "vendor", DRIVER, modules, fabric_manager=fabric_manager, abi=abi)
        root = self.folder / "published"
        Suite(name="stable", flat=True).write(root, sorted(debs.glob("*.deb")), self._signer)
        vendor = Source(uri=f"file:{root}", suites=("./",), keyring=self._signer.keyring)
        sources = {"debian": (Source(folder=self._debs),), "vendor": (vendor,)}
        self._fetched = fetch_index(self.image, sources, self.folder / "cache", Asking(now=NOW))
        found = {"site": certificate_pem(self.pair.certificate)}
        return resolve(
            self.image,
            self._fetched.index,
            load_facts(),
            date(2026, 11, 30),
            keys=self._fetched.keys,
            certificates=found,
        )

    def tree(self, lock: Lock) -> Path:
        """Unpack the packages of a lock as they came from the mirrors."""
        repository = fetch_packages(lock, self._fetched.origins, self.folder / "cache", lambda *_: None)
        tree = self.folder / "tree"
        for path in sorted(repository.glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", path, tree], check=True, timeout=60)
        (tree / f"lib/modules/{ABI}/modules.dep").write_text("updates/nvidia.ko:\n")
        return tree

    def close(self) -> None:
        self._signer.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path)
    yield found
    found.close()


def test_packages_of_one_driver_for_one_kernel_are_locked_with_the_key_of_their_publisher(site: Site) -> None:
    lock = site.offer(sign_module(CORE, load_key(site.pair)))
    assert isinstance(lock, Lock)
    versions = {one.name: one.version for one in lock.packages}
    assert versions["nvidia-kernel-open-modules"] == versions["nvidia-fabricmanager"] == f"{DRIVER}-1"
    assert lock.driver is not None
    assert lock.driver.certificate == site.pair.certificate.read_text()
    assert len(lock.keys) == 1
    tree = site.tree(lock)
    assert check_vermagic(tree, lock) == ()
    assert check_signatures(tree, site.image, lock) == ()


def reasons(found: Lock | Refused) -> list[str]:
    assert isinstance(found, Refused)
    return [one.text for one in found.reasons]


def test_a_fabric_manager_of_another_version_is_refused(site: Site) -> None:
    """NVIDIA/gpu-operator#544: 530.30.02 beside 530.41.03 does not start; the branch is not enough."""
    assert reasons(site.offer(fabric_manager="580.95.05")) == [
        f"the package index has nvidia-fabricmanager 580.95.05-1, not {DRIVER}"
    ]


def test_modules_for_another_kernel_are_refused_by_what_their_package_needs(site: Site) -> None:
    other = "6.1.0-50-amd64"
    found = reasons(site.offer(abi=other))
    assert f"nvidia-kernel-open-modules {DRIVER}-1 holds modules for {other}; the kernel is {ABI}" in found


def test_a_package_that_names_the_kernel_and_holds_modules_for_another_is_refused_by_the_build(site: Site) -> None:
    """The name of a package is a promise; the vermagic is what the kernel looks at."""
    lock = site.offer(module("nvidia", f"version={DRIVER}", vermagic=VERMAGIC.replace("-57-", "-50-")))
    assert isinstance(lock, Lock)
    (found,) = check_vermagic(site.tree(lock), lock)
    assert found.what == f"is built for 6.1.0-50-amd64; the kernel is {ABI}"


def test_unsigned_modules_of_a_vendor_are_refused_by_the_build(site: Site) -> None:
    lock = site.offer()
    assert isinstance(lock, Lock)
    tree = site.tree(lock)
    (found,) = check_signatures(tree, site.image, lock)
    assert (found.path, found.what) == (
        f"/lib/modules/{ABI}/updates/nvidia.ko",
        "is not signed; the certificate of CN=site modules is wanted",
    )
    results, against = run_image_tests(Subject(tree, site.image, lock))
    assert [(one.id, one.passed) for one in results] == [("module-vermagic", True), ("module-signature", False)]
    assert [one.what for one in against] == [found.what]
