"""One file for the root: a squashfs, and behind it the dm-verity tree that proves every block of it."""

import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from images.building.failures import BuildFailedError
from images.building.request import PublishLevel
from images.building.tools import Tools

_ZSTD_LEVEL = {PublishLevel.LOW: "3", PublishLevel.HIGH: "19"}
_BLOCK_BYTES = 4096
_ROOT_HASH = re.compile(r"^Root hash:\s+([0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PackedRoot:
    """`verity_offset_bytes`: where the squashfs ends and the tree begins."""

    path: Path
    verity_root_hash: str
    verity_offset_bytes: int


def pack(tree: Path, target: Path, build_key: str, level: PublishLevel, tools: Tools) -> PackedRoot:
    """Write the file. All times in it are the image's epoch; salt and UUID follow from the build key."""
    date = str(tools.epoch)
    times = ("-mkfs-time", date, "-all-time", date)
    steady = ("-reproducible", "-noappend", "-no-exports", "-no-recovery", "-no-progress", "-xattrs")
    packing = ("-comp", "zstd", "-Xcompression-level", _ZSTD_LEVEL[level], "-b", "128K")
    tools.run(("mksquashfs", str(tree), str(target), *packing, *times, *steady), dated=False)
    offset = target.stat().st_size
    if offset % _BLOCK_BYTES:
        raise BuildFailedError(f"mksquashfs made {offset} bytes, no multiple of {_BLOCK_BYTES}", tools.log)
    return PackedRoot(target, _add_verity(target, offset, build_key, tools), offset)


def _add_verity(target: Path, offset: int, build_key: str, tools: Tools) -> str:
    salt = build_key.removeprefix("sha256:")
    blocks = ("--data-block-size=4096", "--hash-block-size=4096", f"--data-blocks={offset // _BLOCK_BYTES}")
    fixed = (f"--salt={salt}", f"--uuid={uuid.UUID(hex=salt[:32])}", "--hash=sha256")
    said = tools.run(
        ("veritysetup", "format", *blocks, *fixed, f"--hash-offset={offset}", str(target), str(target)), dated=False
    )
    found = _ROOT_HASH.search(said)
    if not found:
        raise BuildFailedError("veritysetup named no root hash", tools.log)
    return found[1]
