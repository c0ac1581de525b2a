"""Modules as distributions keep them on disk: as they are, or compressed as the kernel can unpack."""

import gzip
import lzma
import re
import zlib

from images.modules.errors import ModuleUnreadableError

SUFFIXES = (".ko", ".ko.gz", ".ko.xz", ".ko.zst")
_CONFIGURED = re.compile(r"^CONFIG_MODULE_COMPRESS_(GZIP|XZ)=y$", re.MULTILINE)
_XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "dict_size": 2**20}]


def compression_of(kernel_config: str) -> str:
    """Return what the kernel's own modules have after `.ko`: nothing, `.gz` or `.xz`.

    A kernel with zstd takes modules that are not compressed, as every kernel does; they stay as they are.
    """
    found = _CONFIGURED.search(kernel_config)
    return {"GZIP": ".gz", "XZ": ".xz"}[found.group(1)] if found else ""


def compress(content: bytes, suffix: str) -> bytes:
    """Compress as the kernel's scripts/Makefile.modinst does; equal content, equal bytes."""
    if suffix == ".gz":
        return gzip.compress(content, compresslevel=9, mtime=0)
    if suffix == ".xz":
        return lzma.compress(content, check=lzma.CHECK_CRC32, filters=_XZ_FILTERS)
    return content


def decompress(content: bytes, name: str) -> bytes:
    """Return the module in a file of that name; raises ModuleUnreadableError."""
    try:
        if name.endswith(".gz"):
            return gzip.decompress(content)
        if name.endswith(".xz"):
            return lzma.decompress(content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ModuleUnreadableError(f"cannot be decompressed: {error}") from error
    if name.endswith(".zst"):
        raise ModuleUnreadableError("is compressed with zstd, which is not read here; ship it as .ko or .ko.xz")
    return content
