"""Is what was packed what comes out?

There were releases of squashfs-tools that corrupted data: plougher/squashfs-tools#339.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from images.building.failures import BuildFailedError
from images.building.pack import PackedRoot
from images.building.tools import Tools

_BLOCK_BYTES = 2**20
_TOLD = 10


def verify_packed(tree: Path, packed: PackedRoot, scratch: Path, tools: Tools) -> None:
    """Unpack the file and compare everything in it with the tree; let dm-verity check its own blocks."""
    offset = f"--hash-offset={packed.verity_offset_bytes}"
    path = str(packed.path)
    tools.run(("veritysetup", "verify", offset, path, path, packed.verity_root_hash), dated=False)
    tools.run(("unsquashfs", "-no-progress", "-quiet", "-dest", str(scratch), path), dated=False)
    differences = list(differences_between(tree, scratch))
    if differences:
        told = "\n".join(f"  {one}" for one in differences[:_TOLD])
        what = f"{len(differences)} differences between the tree and what was packed; another squashfs-tools may help:"
        raise BuildFailedError(f"{what}\n{told}", tools.log)


def differences_between(one: Path, other: Path) -> Iterator[str]:
    """Yield every path that is not the same in both: what it is, its rights, its owners, its content."""
    pending = [""]
    while pending:
        folder = pending.pop()
        here, there = _entries(one / folder), _entries(other / folder)
        for name in sorted(here | there):
            path = os.path.join(folder, name)  # noqa: PTH118 - a hundred thousand of them
            if name not in here or name not in there:
                yield f"/{path}: only {'in the tree' if name in here else 'unpacked'}"
                continue
            found = _difference(f"{one}/{path}", f"{other}/{path}")
            if found:
                yield f"/{path}: {found} differs"
            elif stat.S_ISDIR(os.lstat(f"{one}/{path}").st_mode):
                pending.append(path)


def _entries(folder: Path) -> set[str]:
    return set(os.listdir(folder))  # noqa: PTH208 - names only


def _difference(one: str, other: str) -> str:
    here, there = os.lstat(one), os.lstat(other)
    if here.st_mode != there.st_mode:
        return "kind or mode"
    if (here.st_uid, here.st_gid) != (there.st_uid, there.st_gid):
        return "owner"
    if _attributes(one) != _attributes(other):
        return "extended attribute"
    if stat.S_ISLNK(here.st_mode):
        return "" if os.readlink(one) == os.readlink(other) else "target"  # noqa: PTH115
    if stat.S_ISREG(here.st_mode) and (here.st_size != there.st_size or not _same_content(one, other)):
        return "content"
    return ""


def _attributes(path: str) -> dict[str, bytes]:
    names = os.listxattr(path, follow_symlinks=False)
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in names}


def _same_content(one: str, other: str) -> bool:
    with open(one, "rb") as here, open(other, "rb") as there:  # noqa: PTH123 - paths as text, for speed
        while True:
            block = here.read(_BLOCK_BYTES)
            if block != there.read(_BLOCK_BYTES):
                return False
            if not block:
                return True
