"""One file from one mirror, going on where an earlier transfer broke off."""

import asyncio
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import aiohttp

from images.mirror.patience import Patience
from images.mirror.web import Web

Count = Callable[[int], None]
"""Told how many bytes have come; below zero where some are thrown away."""

_BLOCK_BYTES = 2**18
_TRY_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(?:(\d+)|\*)")


class InterruptedTransferError(Exception):
    """It may work when it is tried again."""


class RefusedTransferError(Exception):
    """This mirror does not have it."""


class DiskError(Exception):
    """The file cannot be written here, wherever it comes from."""


async def transfer(web: Web, origin: str, part: Path, *, size_bytes: int, patience: Patience, count: Count) -> None:
    """Append to `part` what it lacks of the file at `origin`, a URL or the path of a local file."""
    with _open(part) as file:
        if file.tell() >= size_bytes:
            _start_again(file, count)
        with _as_transfer_errors(origin):
            if "://" not in origin:
                await _copy(Path(origin), file, count)
            else:
                await _download(_Download(web, origin, size_bytes, patience, count), file)
        if file.tell() != size_bytes:
            raise InterruptedTransferError(f"ended after {file.tell():,} of {size_bytes:,} bytes")


async def read_small(web: Web, origin: str, limit_bytes: int) -> bytes:
    """Return a file whose size and digest nobody has told us; one over the limit is refused."""
    content = bytearray()
    if "://" not in origin:
        content += _read(Path(origin))
    else:
        with _as_transfer_errors(origin):
            async with web.get(origin) as response:
                _judge(response.status)
                async for block in response.content.iter_chunked(_BLOCK_BYTES):
                    content += block
                    if len(content) > limit_bytes:
                        break
    if len(content) > limit_bytes:
        raise RefusedTransferError(f"sends more than {limit_bytes:,} bytes")
    return bytes(content)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RefusedTransferError(error.strerror or str(error)) from error


@contextmanager
def _as_transfer_errors(origin: str) -> Iterator[None]:
    try:
        yield
    except aiohttp.ClientError as error:
        raise InterruptedTransferError(_without_secret(error, origin)) from None  # it may hold the URL
    except TimeoutError as error:
        raise InterruptedTransferError("does not answer") from error


@dataclass(frozen=True, slots=True)
class _Download:
    web: Web
    url: str
    size_bytes: int
    patience: Patience
    count: Count


async def _download(what: _Download, file: IO[bytes]) -> None:
    have = file.tell()
    headers = {"Range": f"bytes={have}-"} if have else {}
    async with what.web.get(what.url, headers=headers) as response:
        _judge(response.status)
        start, whole = _range(response)
        if whole not in (None, what.size_bytes):
            raise RefusedTransferError(f"has {whole:,} bytes of it, where the index says {what.size_bytes:,}")
        if start != have:
            _start_again(file, what.count)
        if start not in (0, have):
            raise InterruptedTransferError("sends another part of the file than it was asked for")
        pace = _Pace(what.patience)
        async for block in response.content.iter_chunked(_BLOCK_BYTES):
            if file.tell() + len(block) > what.size_bytes:
                raise RefusedTransferError(f"sends more than the {what.size_bytes:,} bytes that it should have")
            _write(file, block, what.count)
            pace.note(len(block))


def _range(response: aiohttp.ClientResponse) -> tuple[int, int | None]:
    """Return where the answer starts in the file, and how long the whole file is, if it says so (RFC 9110, 14.4)."""
    if response.status == 200:
        return 0, response.content_length
    found = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    return (int(found[1]), int(found[2]) if found[2] else None) if found else (-1, None)


def _judge(status: int) -> None:
    if status in _TRY_LATER:
        raise InterruptedTransferError(f"answers {status}")
    if status not in (200, 206):
        raise RefusedTransferError(f"answers {status}")


async def _copy(path: Path, file: IO[bytes], count: Count) -> None:
    _start_again(file, count)
    try:
        with path.open("rb") as source:
            while block := source.read(_BLOCK_BYTES):
                _write(file, block, count)
                await asyncio.sleep(0)
    except OSError as error:
        raise RefusedTransferError(error.strerror or str(error)) from error


class _Pace:
    """Breaks off a transfer that is alive and leads nowhere."""

    def __init__(self, patience: Patience) -> None:
        self._least = patience.slowest_bytes_per_second * patience.window.total_seconds()
        self._window_s = patience.window.total_seconds()
        self._since, self._bytes = time.monotonic(), 0

    def note(self, size_bytes: int) -> None:
        self._bytes += size_bytes
        if time.monotonic() - self._since < self._window_s:
            return
        if self._bytes < self._least:
            raise InterruptedTransferError(f"sends only {self._bytes / self._window_s:,.0f} bytes a second")
        self._since, self._bytes = time.monotonic(), 0


def _open(part: Path) -> IO[bytes]:
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        return part.open("ab", buffering=0)
    except OSError as error:
        raise _disk_error(part.parent, error) from error


def _start_again(file: IO[bytes], count: Count) -> None:
    count(-file.tell())
    file.seek(0)
    file.truncate()


def _write(file: IO[bytes], block: bytes, count: Count) -> None:
    try:
        view = memoryview(block)
        while view:
            view = view[file.write(view) :]
    except OSError as error:
        raise _disk_error(Path(file.name).parent, error) from error
    count(len(block))


def _without_secret(error: Exception, origin: str) -> str:
    user, at, _ = urlsplit(origin).netloc.rpartition("@")
    told = str(error) or type(error).__name__
    return told.replace(user + at, "") if at else told


def _disk_error(folder: Path, error: OSError) -> DiskError:
    try:
        free = f"; {shutil.disk_usage(folder).free // 2**20:,} MiB are free there"
    except OSError:
        free = ""
    return DiskError(f"{folder}: {error.strerror}{free}: make room, or put data_dir on a larger disk")
