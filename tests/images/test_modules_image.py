"""Whole images with a driver: NVIDIA's own module from Debian's source, and a vendor's packages that come built."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from images.boot_program.signing import SigningPair
from images.building.build import build_debian_image
from images.building.request import BuildRequest
from images.building.supplies import SiteSupplies
from images.digest import Digest
from images.manifest import ImageManifest, parse_manifest
from images.mirror.source import Source
from images.modules.key import certificate_pem, load_certificate, load_key
from images.modules.module_info import module_info
from images.modules.signature import is_signed_by, sign_module
from images.store import ArtefactStore
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.load import load_images
from profiles.loader import IMAGES, SHIPPED
from tests.images.built import Silent, need_building_tools, shared_folder
from tests.images.driver_repository import driver_packages
from tests.images.kernel_modules import ABI, VERMAGIC, module, signing_pair

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy"), pytest.mark.timeout(1500)]

VENDOR = """\
name: vendor
description: R580 from packages that stand in for the vendor's
extends: [gpu-r580]
gpu:
  driver: {sign_key: modules}
  packages: {mirror: vendor}
"""
NOT_SHIPPED = {"usr/bin/gcc", "usr/bin/cc", "usr/bin/make", "usr/bin/ld", "usr/bin/as", "usr/sbin/dkms"}


def key_of_tests() -> SigningPair:
    """One key for all runs, so that a later one finds the image built."""
    folder = shared_folder() / "keys"
    folder.mkdir(exist_ok=True)
    pair = SigningPair(folder / "site.key", folder / "site.crt")
    return pair if pair.certificate.exists() and pair.key.exists() else signing_pair(folder)


def build(image: DebianImage, pair: SigningPair, sources: dict[str, tuple[Source, ...]]) -> ImageManifest:
    need_building_tools()
    data_dir = shared_folder() / "data"
    certificates = {"modules": certificate_pem(pair.certificate)}
    supplies = SiteSupplies(
        image,
        sources,
        data_dir.resolve() / "packages",
        load_facts(),
        datetime.now(UTC).date(),
        {"modules": pair},
        certificates,
    )
    request = BuildRequest(image, data_dir, supplies, certificates=certificates)
    return build_debian_image(request, Silent()).manifest


def profile(name: str, folder: Path, text: str | None = None) -> DebianImage:
    paths = sorted((SHIPPED / IMAGES).glob("*.yaml"))
    if text is not None:
        (folder / f"{name}.yaml").write_text(text)
        paths.append(folder / f"{name}.yaml")
    images, findings = load_images(paths)
    assert not findings
    found = images[name].profile
    assert isinstance(found, DebianImage)
    return found


def artefact(manifest: ImageManifest, role: str) -> Path:
    return ArtefactStore(shared_folder() / "data" / "artefacts").path(Digest(manifest.artefact(role).digest))


def unpacked(manifest: ImageManifest, folder: Path, *paths: str) -> Path:
    """Unpack some paths of the root."""
    options = ("-quiet", "-no-progress", "-dest", str(folder / "root"))
    command = ["unsquashfs", *options, str(artefact(manifest, "root")), *paths]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder / "root"


def names_in(manifest: ImageManifest) -> set[str]:
    listed = subprocess.run(
        ["unsquashfs", "-lc", "-dest", "", artefact(manifest, "root")], check=True, capture_output=True, timeout=300
    )
    return {line.decode(errors="replace").lstrip("/") for line in listed.stdout.splitlines()}


def passed(manifest: ImageManifest) -> set[str]:
    tests = json.loads(artefact(manifest, "tests").read_bytes())["tests"]
    return {one["id"] for one in tests if one["passed"]}


def test_nvidias_own_module_is_in_an_image_without_a_compiler(tmp_path: Path) -> None:
    """Debian 12: nvidia-kernel-dkms 535.309.01 with kernel 6.1.0-57, the only pair that was seen to build."""
    pair = key_of_tests()
    manifest = build(profile("gpu-r535-debian", tmp_path), pair, {})
    assert {"module-vermagic", "module-signature", "packages-as-locked", "no-compiler"} <= passed(manifest)
    updates = f"usr/lib/modules/{ABI}/updates"
    root = unpacked(manifest, tmp_path, updates, f"usr/lib/modules/{ABI}/modules.dep", "usr/lib/firmware/nvidia")
    modules = {path.name: path.read_bytes() for path in (root / updates).iterdir()}
    assert set(modules) == {f"nvidia-current{one}.ko" for one in ("", "-drm", "-modeset", "-peermem", "-uvm")}
    certificate = load_certificate(pair.certificate)
    for content in modules.values():
        info = module_info(content)
        assert (info.version, info.vermagic) == ("535.309.01", VERMAGIC.strip())
        assert is_signed_by(content, certificate)
        assert all((root / "usr/lib/firmware" / name).is_file() for name in info.firmware)
    assert (
        "updates/nvidia-current-uvm.ko: updates/nvidia-current.ko"
        in (root / f"usr/lib/modules/{ABI}/modules.dep").read_text()
    )
    names = names_in(manifest)
    assert not [name for name in names if name in NOT_SHIPPED or name.startswith(("usr/bin/gcc-", "usr/src/linux-"))]
    assert {"usr/bin/nvidia-smi", "etc/modprobe.d/nvidia.conf"} <= names
    parts = {one["name"]: one for one in json.loads(artefact(manifest, "sbom").read_bytes())["components"]}
    assert parts[f"nvidia-kernel-{ABI}"]["pedigree"]["ancestors"][0]["name"] == "nvidia-kernel-dkms"


def test_a_vendors_built_packages_become_an_image(tmp_path: Path) -> None:
    """R580 and newer are not in Debian: the site names a mirror that has them."""
    pair = key_of_tests()
    image = profile("vendor", tmp_path, VENDOR)
    assert image.gpu is not None
    version = image.gpu.driver.version or ""
    contents = {
        "nvidia.ko": module("nvidia", f"version={version}"),
        "nvidia-uvm.ko": module("nvidia_uvm", f"version={version}", "depends=nvidia"),
    }
    signed = {name: sign_module(content, load_key(pair)) for name, content in contents.items()}
    debs = driver_packages(tmp_path / "debs", version, signed)
    manifest = build(image, pair, {"vendor": (Source(folder=debs),)})
    assert {"module-vermagic", "module-signature"} <= passed(manifest)
    lock = json.loads(artefact(manifest, "lock").read_bytes())
    assert lock["driver"]["components"] == {"nvidia-fabricmanager": f"{version}-1"}
    assert lock["modules"] is None
    assert parse_manifest(manifest.canonical_json()).digest == manifest.digest
    root = unpacked(manifest, tmp_path, f"usr/lib/modules/{ABI}/updates")
    kept = {path.name: path.read_bytes() for path in (root / f"usr/lib/modules/{ABI}/updates").iterdir()}
    assert kept == signed
