"""The first root in memory: Debian's initramfs-tools with our script, made by the tools of the tree itself."""

from collections.abc import Mapping
from pathlib import Path

import images
from images.building.customise import write_file
from images.building.failures import BuildFailedError, TreeRefusedError
from images.building.keys import key_of
from images.building.settings_files import kernel_files
from images.building.tools import Tools
from images.building.tree_path import inside, write
from profiles.images.debian import DebianImage, ImageFile
from profiles.images.lock import Lock

_SOURCES = Path(images.__file__).parent / "initrd"
_HOOK = "/etc/initramfs-tools/hooks/firstlight"
_SCRIPTS = "/etc/initramfs-tools/scripts"
_CONFIGURATION = "/etc/initramfs-tools/conf.d/firstlight"
_MODULES = "/etc/initramfs-tools/modules"
_MADE = "/var/tmp/firstlight-initrd"  # noqa: S108 - a path in the tree, where nobody else is
_LOOKED_AT = ("/etc/initramfs-tools/", "/etc/modprobe.d/", "/etc/modules-load.d/", "/etc/udev/", "/usr/lib/firmware/")
_COMPRESSION_BY = {"zstd": "zstd", "xz": "xz-utils", "lz4": "lz4"}


def initrd_key(image: DebianImage, tree_key: str) -> str:
    """Return 64 hex digits for all that the initrd is made of; `tree_key` stands for its packages."""
    sources = {path.name: path.read_bytes().hex() for path in (_SOURCES / "hook", *_script_files())}
    own = Path(__file__).read_bytes().hex()
    files = [one.model_dump(mode="json") for one in _files(image)]
    settings = image.kernel.initrd.model_dump(mode="json")
    return key_of(tree_key, sources, own, kernel_files(image), files, settings).removeprefix("sha256:")


def prepare(tree: Path, image: DebianImage, site_files: Mapping[str, Path]) -> None:
    """Put into the tree what both the initrd and the root have: settings of modules, files that the initrd takes."""
    for path, text in kernel_files(image).items():
        write(tree, path, text.encode())
    found = [violation for file in _files(image) for violation in write_file(tree, file, site_files)]
    if found:
        raise TreeRefusedError(tuple(found))


def make_initrd(tree: Path, image: DebianImage, lock: Lock, target: Path, tools: Tools) -> None:
    """Write the initrd of the lock's kernel; what only the initrd needs is taken out of the tree again."""
    if not inside(tree, "/usr/sbin/mkinitramfs").exists():
        raise BuildFailedError(f"{image.name}: has no initramfs-tools; add it to packages.install")
    modules = inside(tree, _MODULES)
    before = modules.read_bytes() if modules.exists() else b""
    write(tree, _MODULES, before + "".join(f"{one}\n" for one in image.kernel.initrd.modules).encode())
    write(tree, _HOOK, (_SOURCES / "hook").read_bytes(), 0o755)
    for script in _script_files():
        write(tree, f"{_SCRIPTS}/{script.name}", script.read_bytes(), 0o755)
    compression = image.kernel.initrd.compression
    settings = "COMPRESS=gzip\n" if compression == "none" else f"COMPRESS={compression}\n"
    write(tree, _CONFIGURATION, settings.encode())
    made = inside(tree, _MADE)
    try:
        said = tools.run(("chroot", str(tree), "mkinitramfs", "-o", _MADE, lock.kernel.abi), alone=True)
        _refuse_if_incomplete(said, compression, tools)
        target.write_bytes(made.read_bytes())
    finally:
        scripts = [f"{_SCRIPTS}/{script.name}" for script in _script_files()]
        for path in (_HOOK, *scripts, _CONFIGURATION, _MADE):
            inside(tree, path).unlink(missing_ok=True)
        write(tree, _MODULES, before)


def _refuse_if_incomplete(said: str, compression: str, tools: Tools) -> None:
    """mkinitramfs warns and goes on where something is missing; the machine would not come up as declared."""
    for line in said.splitlines():
        if "using gzip" in line:
            package = _COMPRESSION_BY.get(compression, compression)
            what = f"initrd: {compression} is not in the image; add {package} to packages.install"
            raise BuildFailedError(what, tools.log)
        if line.startswith("E: "):
            raise BuildFailedError(f"initrd: {line}", tools.log)


def _files(image: DebianImage) -> list[ImageFile]:
    return [file for file in image.files if file.path.startswith(_LOOKED_AT)]


def _script_files() -> list[Path]:
    """The boot script, called as `boot=firstlight` says, and its parts."""
    return sorted(path for path in _SOURCES.glob("firstlight*") if not path.suffix)
