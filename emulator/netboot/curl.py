"""The requests of an initrd of ours, which has curl: a text, a report, and a large file that may come in pieces."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import orjson

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import BLOCK_BYTES, FETCH_TIMEOUT, File, failure, file_of, retry_after, shown, verbatim
from emulator.netboot.kept import Kept

AGENT = "curl/7.88.1"

_LONGEST_TEXT_BYTES = 2**16
_MOST_PIECES = 100
_ERRORS = (aiohttp.ClientError, OSError, TimeoutError, ValueError)


_PASSING = frozenset({408, 425, 429})
_BUSY = frozenset({429, 503})
_BUSY_SECONDS = 10.0  # where such a server does not say when to come back
_REDIRECTS = 3


class NoRoom(BootError):
    """The file does not fit into the memory of the node."""

    def __init__(self, size_bytes: int, room_bytes: float) -> None:
        """What it needs, and what is free."""
        free = f"{room_bytes / 2**20:.1f} MiB are free for it"
        super().__init__(f"the root needs {size_bytes / 2**20:.1f} MiB of memory, and {free}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, as a text."""

    status: int
    text: str
    retry_after: float | None

    @property
    def final(self) -> bool:
        """Whether asking again would change nothing."""
        return 200 <= self.status < 300 or (400 <= self.status < 500 and self.status not in _PASSING)


@dataclass(slots=True)
class Trouble:
    """What happens to a file on its way: a bit flips, the connection breaks after so many bytes, memory is short."""

    flips: bool = False
    breaks_after_bytes: int | None = None
    room_bytes: float | None = None


class Curl:
    """The requests of one host. `check` is called before each and raises BootError while nothing gets through."""

    def __init__(self, client: aiohttp.ClientSession, at_once: asyncio.Semaphore, check: Callable[[], None]) -> None:
        """`client` and `at_once` are shared by all hosts."""
        self._client = client
        self._at_once = at_once
        self._check = check

    async def text(self, url: str, query: dict[str, str]) -> Answer:
        """GET. Raises BootError when there is no answer."""
        return await self._ask("GET", url, {}, params=query)

    async def report(self, url: str, token: str, document: dict[str, str]) -> Answer:
        """POST as JSON. Raises BootError when there is no answer."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        return await self._ask("POST", url, headers, data=orjson.dumps(document))

    async def download(self, url: str, trouble: Trouble) -> File:
        """GET; what broke off is asked for from there on. Raises BootError, or NoRoom."""
        kept = Kept(flip=trouble.flips)
        for _ in range(_MOST_PIECES):
            before = kept.size
            try:
                return await self._piece(url, kept, trouble)
            except _ERRORS as error:
                if kept.size == before:
                    raise failure(url, error) from error
        raise BootError(f"{shown(url)}: the transfer broke off {_MOST_PIECES} times")

    async def _piece(self, url: str, kept: Kept, trouble: Trouble) -> File:
        self._check()
        headers = {"User-Agent": AGENT, "Accept": "*/*", **({"Range": f"bytes={kept.size}-"} if kept.size else {})}
        async with (
            self._at_once,
            self._client.get(verbatim(url), headers=headers, timeout=FETCH_TIMEOUT, max_redirects=_REDIRECTS) as answer,
        ):
            if answer.status == 200:
                kept.restart()
            elif not _continues(answer, kept.size):
                raise BootError(f"{shown(url)} answered {answer.status}", _later(answer))
            _check_room(answer, kept.size, trouble)
            async for block in answer.content.iter_chunked(BLOCK_BYTES):
                kept.add(block)
                _break_off(kept.size, trouble)
            return file_of(answer, kept)

    async def _ask(self, method: str, url: str, headers: dict[str, str], **content: object) -> Answer:
        self._check()
        try:
            async with (
                self._at_once,
                self._client.request(
                    method,
                    verbatim(url),
                    headers={"User-Agent": AGENT, "Accept": "*/*", **headers},
                    timeout=FETCH_TIMEOUT,
                    max_redirects=_REDIRECTS,
                    **content,  # type: ignore[arg-type]  # params or data
                ) as answer,
            ):
                text = await answer.content.read(_LONGEST_TEXT_BYTES)
                return Answer(answer.status, text.decode("utf-8", "replace"), _later(answer))
        except _ERRORS as error:
            raise failure(url, error) from error


def _later(answer: aiohttp.ClientResponse) -> float | None:
    return (retry_after(answer) or _BUSY_SECONDS) if answer.status in _BUSY else None


def _continues(answer: aiohttp.ClientResponse, at: int) -> bool:
    return bool(at) and answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {at}-")


def _check_room(answer: aiohttp.ClientResponse, have: int, trouble: Trouble) -> None:
    size = have + (answer.content_length or 0)
    if trouble.room_bytes is not None and size > trouble.room_bytes:
        raise NoRoom(size, trouble.room_bytes)


def _break_off(size: int, trouble: Trouble) -> None:
    if trouble.breaks_after_bytes is not None and size >= trouble.breaks_after_bytes:
        trouble.breaks_after_bytes = None
        raise ConnectionResetError
