"""Files over HTTP as firmware, iPXE and a BMC ask for them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from emulator.netboot.boot_error import BootError
from emulator.netboot.kept import Kept

UEFI_AGENT = "UefiHttpBoot/1.0"
IPXE_AGENT = "iPXE/1.21.1+ (g4bd064de)"
BMC_AGENT = "curl/7.88.1"

FETCH_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=60)
_LARGEST_BYTES = 8 * 2**30
BLOCK_BYTES = 2**18
_REDIRECTS = 8
_SECRET_LENGTH = 12  # longer parts of paths are keys or digests; messages show their beginning only

HeadRule = Literal["asks", "needs", "skips"]
"""What firmware makes of HEAD: it asks and goes on whatever the answer is, gives up without a size, never asks."""


@dataclass(slots=True)
class File:
    """What was fetched. `content` is its beginning only where it is not `complete`; `digest` is of all of it.

    `tail`: its last bytes, where `content` does not hold them.
    """

    url: str
    content_type: str
    digest: str
    content: bytes
    complete: bool = True
    size_bytes: int = 0
    tail: bytes = b""

    def drop(self) -> None:
        """Give the memory back: the host runs on."""
        self.content = self.tail = b""


class Fetcher:
    """Fetches for one host. `check` is called before each request and raises BootError while nothing gets through."""

    def __init__(self, client: aiohttp.ClientSession, at_once: asyncio.Semaphore, check: Callable[[], None]) -> None:
        """`client` and `at_once` are shared by all hosts."""
        self._client = client
        self._at_once = at_once
        self._check = check

    async def as_firmware(self, url: str, head: HeadRule = "asks") -> File:
        """HEAD for the size, then GET; a refused HEAD is no reason to stop; a redirection is (EDK2, HttpBootDxe)."""
        if head != "skips":
            await self._head(url, needed=head == "needs")
        return await self._get(url, UEFI_AGENT, redirects=False)

    async def as_ipxe(self, url: str) -> File:
        """GET; redirections are followed."""
        return await self._get(url, IPXE_AGENT, redirects=True)

    async def as_bmc(self, url: str) -> File:
        """GET of an image for virtual media."""
        return await self._get(url, BMC_AGENT, redirects=True)

    async def _head(self, url: str, *, needed: bool) -> None:
        self._check()
        try:
            headers = {"User-Agent": UEFI_AGENT, "Accept": "*/*"}
            async with (
                self._at_once,
                self._client.head(
                    verbatim(url), headers=headers, timeout=FETCH_TIMEOUT, allow_redirects=False
                ) as answer,
            ):
                size = answer.content_length
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise failure(url, error) from error
        if needed and (answer.status != 200 or size is None):
            raise BootError(f"{shown(url)} does not tell its size: HEAD answered {answer.status}")
        if answer.status == 200 and size and size > _LARGEST_BYTES:
            raise _too_large(url)

    async def _get(self, url: str, user_agent: str, *, redirects: bool) -> File:
        self._check()
        headers = {"User-Agent": user_agent, "Accept": "*/*"}
        try:
            async with (
                self._at_once,
                self._client.get(
                    verbatim(url),
                    headers=headers,
                    timeout=FETCH_TIMEOUT,
                    allow_redirects=redirects,
                    max_redirects=_REDIRECTS,
                ) as answer,
            ):
                if answer.status != 200:
                    raise _refusal(url, answer)
                return await _read(url, answer)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise failure(url, error) from error


def shown(url: str) -> str:
    """The address for a message: without its query, and without the key that may be in its path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    path = "/".join(_part(part) for part in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def _part(part: str) -> str:
    return part[: _SECRET_LENGTH // 2] + "..." if len(part) > _SECRET_LENGTH and "." not in part else part


def verbatim(url: str) -> URL:
    """The address as it was given: firmware does not tidy up escapes. Raises ValueError."""
    return URL(url, encoded=all("!" <= mark <= "~" for mark in url))


async def _read(url: str, answer: aiohttp.ClientResponse) -> File:
    kept = Kept()
    async for block in answer.content.iter_chunked(BLOCK_BYTES):
        kept.add(block)
        if kept.size > _LARGEST_BYTES:
            raise _too_large(url)
    return file_of(answer, kept)


def file_of(answer: aiohttp.ClientResponse, kept: Kept) -> File:
    """The file of an answer that has come to its end."""
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    content = kept.head
    complete = len(content) == kept.size
    return File(str(answer.url), kind, kept.digest, content, complete, kept.size, b"" if complete else kept.tail)


def retry_after(answer: aiohttp.ClientResponse) -> float | None:
    """How many seconds the server asks to be left alone; None: it does not say. RFC 9110, 10.2.3."""
    after = answer.headers.get("Retry-After", "")
    return float(after) if after.isascii() and after.isdigit() else None


def _refusal(url: str, answer: aiohttp.ClientResponse) -> BootError:
    moved = " (a redirection, which UEFI firmware does not follow)" if 300 <= answer.status < 400 else ""
    return BootError(f"{shown(url)} answered {answer.status}{moved}", retry_after(answer))


def failure(url: str, error: Exception) -> BootError:
    """What a client error means to people."""
    # The message of a client error may repeat the whole address, and with it a boot key.
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return BootError(f"{shown(url)}: {reason}")


def _too_large(url: str) -> BootError:
    return BootError(f"{shown(url)} is larger than {_LARGEST_BYTES // 2**30} GiB")
