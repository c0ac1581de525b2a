"""The packages of an index: unpacked and read once, then kept in a form that loads in a third of the time."""

import gzip
import hashlib
import io
import lzma
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import orjson

from images.mirror.release import IndexFile
from images.whole_files import write_whole
from profiles.images.package_index import IndexFaultError, Package, read_packages

_FIELDS = tuple(one.name for one in fields(Package))
_DIGEST_BYTES = 32


class PackagesFileError(ValueError):
    """An index is not what the Release says, or says nonsense."""


def unpack(packed: bytes, path: str, plain: IndexFile) -> bytes:
    """Return the unpacked index; a Release that names its digest bounds its size. Raises PackagesFileError."""
    if Path(path).suffix not in (".xz", ".gz"):
        return packed
    known = plain.path != path
    limit = plain.size_bytes if known else 2**30
    try:
        with _opened(packed, path) as file:
            content = file.read(limit + 1)
    except (lzma.LZMAError, EOFError, OSError) as error:
        raise PackagesFileError(f"{path} cannot be unpacked: {error}") from error
    if len(content) > limit or (known and hashlib.sha256(content).hexdigest() != plain.sha256):
        raise PackagesFileError(f"{path} unpacks to something else than the Release says")
    return bytes(content)


def _opened(packed: bytes, path: str) -> lzma.LZMAFile | gzip.GzipFile:
    file = io.BytesIO(packed)
    return lzma.LZMAFile(file) if path.endswith(".xz") else gzip.GzipFile(fileobj=file)


def parse(content: bytes, path: str) -> tuple[Package, ...]:
    """Return the packages of an unpacked index; raises PackagesFileError."""
    try:
        return tuple(read_packages(content.decode()))
    except (UnicodeDecodeError, IndexFaultError) as error:
        raise PackagesFileError(f"{path}: {error}") from error


def keep(path: Path, packages: Iterable[Package]) -> None:
    """Write them with the digest of what was written."""
    body = orjson.dumps([[getattr(one, name) for name in _FIELDS] for one in packages])
    write_whole(path, hashlib.sha256(body).digest() + orjson.dumps(_FIELDS) + b"\n" + body)


def kept(path: Path) -> tuple[Package, ...] | None:
    """Return what was kept; None where there is nothing, or where it is damaged or of another version of ours."""
    try:
        content = memoryview(path.read_bytes())
    except FileNotFoundError:
        return None
    head = orjson.dumps(_FIELDS) + b"\n"
    body = content[_DIGEST_BYTES + len(head) :]
    whole = hashlib.sha256(body).digest() == content[:_DIGEST_BYTES]
    if not whole or content[_DIGEST_BYTES : _DIGEST_BYTES + len(head)] != head:
        return None
    return tuple(Package(*row) for row in orjson.loads(body))
