"""Packages as they arrive: the start is kept, the rest is counted; thousands of BMCs may be sent one at once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import python_multipart

from emulator.package import START_BYTES, Image

Receive = Callable[[], Awaitable[dict[str, Any]]]

_MOST_BYTES = 2**30
_AROUND_BYTES = 2**16  # what a multipart body has beside the file
_OTHER_PART_BYTES = 2**16


@dataclass(slots=True)
class Part:
    """One part of a multipart body, or a whole body; `content` is its start."""

    name: str
    kind: str = ""
    content: bytearray = field(default_factory=bytearray)
    size_bytes: int = 0

    @property
    def image(self) -> Image:
        """It, as the package that it may be."""
        return Image(bytes(self.content), self.size_bytes)

    def add(self, data: bytes, most: int) -> None:
        """More of it."""
        self.size_bytes += len(data)
        if len(self.content) < most:
            self.content += data[: most - len(self.content)]


@dataclass(slots=True)
class Received:
    """What was sent: `parts` of a multipart body in their order, or one part without a name."""

    parts: list[Part] = field(default_factory=list)
    too_large: bool = False
    broken: str = ""
    """Why the parts cannot be told apart."""

    def find(self, name: str) -> Part | None:
        """The part of that name."""
        return next((part for part in self.parts if part.name == name), None)


async def receive_package(most_bytes: int | None, headers: dict[str, str], receive: Receive) -> Received:
    """Read the body of a push. One that is too large is not read when the client asks first, and never kept."""
    limit = most_bytes + _AROUND_BYTES if most_bytes else _MOST_BYTES
    declared = headers.get("content-length", "")
    received = Received(too_large=declared.isascii() and declared.isdigit() and int(declared) > limit)
    if received.too_large and headers.get("expect", "").lower() == "100-continue":
        return received
    take = _taker(received, headers.get("content-type", ""))
    count, more = 0, True
    while more and count <= _MOST_BYTES:
        message = await receive()
        chunk, more = message.get("body", b""), bool(message.get("more_body"))
        count += len(chunk)
        received.too_large = received.too_large or count > limit
        if not received.too_large and not received.broken:
            take(chunk)
    if most_bytes and any(part.size_bytes > most_bytes for part in received.parts):
        received.too_large = True
    return received


def _taker(received: Received, kind: str) -> Callable[[bytes], None]:
    if not kind.startswith("multipart/form-data"):
        whole = Part("", kind)
        received.parts.append(whole)
        return lambda chunk: whole.add(chunk, START_BYTES)
    boundary = python_multipart.multipart.parse_options_header(kind)[1].get(b"boundary")
    if not boundary:
        received.broken = "the media type names no boundary"
        return lambda _chunk: None
    return _Parts(received, boundary).take


class _Parts:
    """Takes a multipart body apart."""

    def __init__(self, received: Received, boundary: bytes) -> None:
        self._received = received
        self._name = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._parser = python_multipart.MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_part_data": self._data,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._described,
            },
        )

    def take(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except python_multipart.exceptions.FormParserError as error:
            self._received.broken = str(error)

    def _begin(self) -> None:
        self._headers = {}
        self._received.parts.append(Part(""))

    def _data(self, data: bytes, start: int, end: int) -> None:
        part = self._received.parts[-1]
        part.add(data[start:end], START_BYTES if part.name == "UpdateFile" else _OTHER_PART_BYTES)

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _described(self) -> None:
        part = self._received.parts[-1]
        options = python_multipart.multipart.parse_options_header(self._headers.get(b"content-disposition"))[1]
        part.name = options.get(b"name", b"").decode("utf-8", "replace")
        part.kind = self._headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
