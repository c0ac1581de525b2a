"""A file that is sent no faster than the site's limit."""

from pathlib import Path
from typing import Any

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BufferedReaderPayload

from provisioner.upload_limit import UploadLimit


class PacedFile(BufferedReaderPayload):
    """Read as it is sent; its length is known before. Closed with the request."""

    def __init__(self, path: Path, content_type: str, limit: UploadLimit) -> None:
        """Opens the file. Raises OSError."""
        super().__init__(path.open("rb"), content_type=content_type, filename=path.name)
        self._limit = limit

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """As every payload, piece by piece."""
        await super().write_with_length(_PacedWriter(writer, self._limit), content_length)


class _PacedWriter(AbstractStreamWriter):
    def __init__(self, writer: AbstractStreamWriter, limit: UploadLimit) -> None:
        self._writer = writer
        self._limit = limit

    async def write(self, chunk: Any) -> None:
        await self._limit.take(len(chunk))
        await self._writer.write(chunk)

    async def write_eof(self, chunk: bytes = b"") -> None:
        await self._writer.write_eof(chunk)

    async def drain(self) -> None:
        await self._writer.drain()

    def enable_compression(self, encoding: str = "deflate", strategy: int | None = None) -> None:
        self._writer.enable_compression(encoding, strategy)

    def enable_chunking(self) -> None:
        self._writer.enable_chunking()

    async def write_headers(self, status_line: str, headers: Any) -> None:
        await self._writer.write_headers(status_line, headers)
