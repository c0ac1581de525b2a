"""The built modules as a Debian package, so that dpkg knows them and what they need. Equal modules, equal bytes."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from images.modules.errors import ModuleError
from profiles.images.lock import Lock, LockedModules

CERTIFICATE = "usr/share/firstlight/modules.pem"
_POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    depmod {abi}
fi
"""


def module_folder(abi: str) -> str:
    """Return where built modules go, without a slash in front: before the kernel's own, as depmod searches."""
    return f"lib/modules/{abi}/updates"


def write_package(lock: Lock, modules: LockedModules, files: Mapping[str, bytes], output: Path) -> Path:
    """Write the package into the folder; `files` by their paths in the image, without a slash in front."""
    name = f"{modules.package}_{modules.version.rpartition(':')[2]}_{modules.source.arch}.deb"
    with tempfile.TemporaryDirectory(dir=output, prefix=".package-") as scratch:
        tree = Path(scratch, "tree")
        contents = {path: (content, 0o644) for path, content in files.items()}
        contents["DEBIAN/control"] = (_control(lock, modules, files).encode(), 0o644)
        contents["DEBIAN/postinst"] = (_POSTINST.format(abi=lock.kernel.abi).encode(), 0o755)
        for where, (content, mode) in contents.items():
            _write(tree / where, content, mode)
        for path in (tree, *tree.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (lock.epoch, lock.epoch))
        _dpkg_deb(tree, Path(scratch, name), lock.epoch)
        return Path(scratch, name).replace(output / name)


def _write(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def _control(lock: Lock, modules: LockedModules, files: Mapping[str, bytes]) -> str:
    size_kib = -(-sum(map(len, files.values())) // 1024)
    fields = {
        "Package": modules.package,
        "Source": modules.source.name,
        "Version": modules.version,
        "Architecture": modules.source.arch,
        "Maintainer": "Firstlight <root@localhost>",
        "Installed-Size": str(size_kib),
        "Depends": modules.depends,
        "Provides": modules.provides,
        "Section": "kernel",
        "Priority": "optional",
        "Description": f"kernel modules of {modules.source.name}, built for {lock.kernel.abi}",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def _dpkg_deb(tree: Path, target: Path, epoch: int) -> None:
    """Not compressed: it goes from one folder to another, and the image compresses it again."""
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(target)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "LC_ALL": "C.UTF-8"}
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    except FileNotFoundError as error:
        raise ModuleError("dpkg-deb is not on this machine; build images on Debian") from error
    if ran.returncode != 0:
        raise ModuleError(f"{target.name} cannot be packed: {ran.stderr.strip()}")
