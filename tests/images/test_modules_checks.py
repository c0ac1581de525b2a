"""The kernel modules in the tree of an image: what keeps a node from loading them is told before any node boots."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from images.modules.checks import check_signatures, check_vermagic
from images.modules.compression import compress
from images.modules.key import load_key
from images.modules.signature import sign_module
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock, LockedDriver, LockedKernel
from tests.images.kernel_modules import ABI, VERMAGIC, module, signing_pair
from tests.profiles.image_files import gpu

DRIVER = "535.309.01"
FIRMWARE = f"nvidia/{DRIVER}/gsp_ga10x.bin"
CORE = module("nvidia", f"version={DRIVER}", "depends=drm", f"firmware={FIRMWARE}")
MEMORY = module("nvidia_uvm", f"version={DRIVER}", "depends=nvidia")
WHOLE: Mapping[str, bytes] = {
    f"lib/modules/{ABI}/kernel/drm.ko": module("drm"),
    f"lib/modules/{ABI}/modules.builtin": b"kernel/drivers/i2c/i2c-core.ko\n",
    f"lib/modules/{ABI}/modules.dep": b"updates/nvidia-current.ko: kernel/drm.ko\nupdates/nvidia-current-uvm.ko:\n",
    f"lib/modules/{ABI}/updates/nvidia-current.ko": CORE,
    f"lib/modules/{ABI}/updates/nvidia-current-uvm.ko": MEMORY,
    f"lib/firmware/{FIRMWARE}": b"\0",
}
UPDATES = f"lib/modules/{ABI}/updates"
LOCK = Lock(
    image="gpu",
    arch="x86_64",
    profile={},
    profile_digest="",
    epoch=0,
    kernel=LockedKernel(f"linux-image-{ABI}", "6.1.192-3", ABI),
    driver=LockedDriver(DRIVER, {}, {}),
    keyring_sha256=None,
    egress_sha256="",
    keys=(),
    packages=(),
)


def tree(folder: Path, *changes: tuple[str, bytes | None]) -> Path:
    """Write WHOLE with changes; None takes a file away."""
    for path, content in {**WHOLE, **dict(changes)}.items():
        if content is not None:
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return folder


def told(folder: Path, lock: Lock = LOCK) -> list[str]:
    return [str(one) for one in check_vermagic(folder, lock)]


def test_modules_of_this_kernel_and_driver_are_fine(tmp_path: Path) -> None:
    assert told(tree(tmp_path)) == []


def test_a_tree_with_merged_usr_is_read_once(tmp_path: Path) -> None:
    """Debian 12 and later: /lib is a link to usr/lib."""
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "lib").symlink_to("usr/lib")
    assert told(tree(tmp_path)) == []
    assert told(tree(tmp_path, (f"{UPDATES}/broken.ko", b"?"))) == [
        f"/usr/{UPDATES}/broken.ko: is no 64-bit little-endian ELF file; replace the package that brings it"
    ]


def test_compressed_modules_are_read_as_what_they_are(tmp_path: Path) -> None:
    """Debian 13 ships .ko.xz."""
    packed = tree(
        tmp_path,
        (f"{UPDATES}/nvidia-current.ko", None),
        (f"{UPDATES}/nvidia-current.ko.xz", compress(CORE, ".xz")),
        (f"lib/modules/{ABI}/modules.dep", b"updates/nvidia-current.ko.xz:\nupdates/nvidia-current-uvm.ko:\n"),
    )
    assert told(packed) == []


OTHER = "6.1.0-50-amd64"
OTHER_MAGIC = VERMAGIC.replace(ABI, OTHER)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            (f"{UPDATES}/nvidia-current-uvm.ko", module("nvidia_uvm", f"version={DRIVER}", vermagic=OTHER_MAGIC)),
            f"/{UPDATES}/nvidia-current-uvm.ko: is built for {OTHER}; the kernel is {ABI}; name a package of modules "
            "for this kernel, or write delivery: stage",
        ),
        (
            (f"{UPDATES}/nvidia-current-uvm.ko", module("nvidia_uvm", f"version={DRIVER}", vermagic=f"{ABI} SMP ")),
            f'/{UPDATES}/nvidia-current-uvm.ko: is built as "{ABI} SMP", the kernel\'s own modules as '
            f'"{VERMAGIC.strip()}"; build it with the headers of this kernel',
        ),
        (
            (f"{UPDATES}/nvidia-current-uvm.ko", module("nvidia_uvm", "version=535.261.03", "depends=nvidia")),
            f"/{UPDATES}/nvidia-current-uvm.ko: is of driver 535.261.03; the lock has {DRIVER}; modules and libraries "
            "go together: install both of one version",
        ),
        (
            (f"lib/firmware/{FIRMWARE}", None),
            f"/{UPDATES}/nvidia-current.ko: needs the firmware {FIRMWARE}, which is not there; install what brings it",
        ),
        (
            (f"lib/modules/{ABI}/modules.dep", b"updates/nvidia-current.ko:\n"),
            f"/{UPDATES}/nvidia-current-uvm.ko: is not in modules.dep, so that modprobe does not find it; "
            "run depmod after it",
        ),
        (
            (f"lib/modules/{OTHER}/extra/nvidia.ko", CORE),
            f"/lib/modules/{OTHER}: holds modules for {OTHER}; the kernel is {ABI}; name a package of modules for "
            "this kernel, or write delivery: stage",
        ),
        (
            (f"{UPDATES}/nvidia-current.ko", None),
            f"/lib/modules/{ABI}: there is no module of driver {DRIVER} for {ABI}; name a package of modules for "
            "this kernel, or write delivery: stage",
        ),
    ],
)
def test_what_keeps_a_module_from_being_loaded_is_told(
    tmp_path: Path, change: tuple[str, bytes | None], expected: str
) -> None:
    """NVIDIA/open-gpu-kernel-modules#791, and "Driver/library version mismatch"."""
    assert expected in told(tree(tmp_path, change))


def test_a_module_that_another_one_needs_has_to_be_there(tmp_path: Path) -> None:
    found = told(tree(tmp_path, (f"lib/modules/{ABI}/kernel/drm.ko", None)))
    assert found == [f"/{UPDATES}/nvidia-current.ko: needs the module drm, which is not there; install what brings it"]
    built_in = module("nvidia", f"version={DRIVER}", "depends=i2c-core")
    assert told(tree(tmp_path, (f"{UPDATES}/nvidia-current.ko", built_in))) == []


def test_an_image_without_a_driver_needs_no_module_of_one(tmp_path: Path) -> None:
    assert told(tmp_path, replace(LOCK, driver=None)) == []


def test_modules_beside_the_driver_have_versions_of_their_own(tmp_path: Path) -> None:
    """nvidia-fs, GPUDirect Storage: 2.x beside any driver."""
    files = module("nvidia_fs", "version=2.17.5", "depends=nvidia")
    listed = WHOLE[f"lib/modules/{ABI}/modules.dep"] + b"updates/nvidia-fs.ko:\n"
    changed = tree(tmp_path, (f"{UPDATES}/nvidia-fs.ko", files), (f"lib/modules/{ABI}/modules.dep", listed))
    assert told(changed) == []


def signed_image(folder: Path) -> DebianImage:
    return gpu(folder, ("delivery: prebuilt", "delivery: prebuilt, sign_key: site"))


def locked_down(folder: Path) -> DebianImage:
    return gpu(folder, ("target:", "kernel: {lockdown: integrity}\ntarget:"))


def judged(folder: Path, image: DebianImage, certificate: str | None) -> list[str]:
    lock = replace(LOCK, driver=LockedDriver(DRIVER, {}, {}, certificate))
    return [str(one) for one in check_signatures(folder, image, lock)]


def test_modules_signed_by_the_sites_key_are_fine_and_those_of_another_key_are_not(tmp_path: Path) -> None:
    ours, theirs = signing_pair(tmp_path), signing_pair(tmp_path, "vendor")
    certificate = ours.certificate.read_text()
    image = signed_image(tmp_path)
    names = ("nvidia-current.ko", "nvidia-current-uvm.ko")
    good = tree(
        tmp_path / "good",
        *((f"{UPDATES}/{name}", sign_module(WHOLE[f"{UPDATES}/{name}"], load_key(ours))) for name in names),
    )
    assert judged(good, image, certificate) == []
    mixed = tree(
        tmp_path / "mixed",
        (f"{UPDATES}/nvidia-current.ko", sign_module(CORE, load_key(theirs))),
    )
    assert judged(mixed, image, certificate) == [
        f"/{UPDATES}/nvidia-current-uvm.ko: is not signed; the certificate of CN=site modules is wanted; "
        "sign it, or write delivery: stage",
        f"/{UPDATES}/nvidia-current.ko: is signed by vendor modules, and that does not verify with the certificate of "
        "CN=site modules; sign it with the key that the profile names",
    ]


def test_a_module_that_was_changed_after_signing_is_refused(tmp_path: Path) -> None:
    ours = signing_pair(tmp_path)
    signed = sign_module(CORE, load_key(ours)).replace(b"\xc3", b"\xcc", 1)
    names = (f"{UPDATES}/nvidia-current-uvm.ko", sign_module(MEMORY, load_key(ours)))
    changed = tree(tmp_path / "tree", (f"{UPDATES}/nvidia-current.ko", signed), names)
    (found,) = judged(changed, signed_image(tmp_path), ours.certificate.read_text())
    assert found.startswith(f"/{UPDATES}/nvidia-current.ko: is signed by site modules, and that does not verify")


def test_a_kernel_that_is_locked_down_takes_no_unsigned_module(tmp_path: Path) -> None:
    """kernel_lockdown(7): unsigned modules are refused."""
    found = judged(tree(tmp_path / "tree"), locked_down(tmp_path), None)
    assert [one.partition(":")[0] for one in found] == [
        f"/{UPDATES}/nvidia-current-uvm.ko",
        f"/{UPDATES}/nvidia-current.ko",
    ]
    assert "is not signed, and a kernel that is locked down loads no such module" in found[0]
    assert judged(tmp_path / "tree", gpu(tmp_path), None) == []


def test_a_lock_without_the_certificate_proves_nothing(tmp_path: Path) -> None:
    found = judged(tree(tmp_path / "tree"), signed_image(tmp_path), None)
    assert found == [
        "lock: names no certificate, so no signature can be checked; resolve the profile again, with the site's "
        "configuration"
    ]


def test_the_lock_of_these_tests_is_one() -> None:
    assert json.loads(LOCK.canonical_json())["kernel"]["abi"] == ABI
