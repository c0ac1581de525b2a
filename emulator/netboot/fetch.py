"""Files over HTTP as firmware, iPXE and a BMC ask for them."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from emulator.netboot.boot_error import BootError

UEFI_AGENT = "UefiHttpBoot/1.0"
IPXE_AGENT = "iPXE/1.21.1+ (g4bd064de)"
BMC_AGENT = "curl/7.88.1"

_FETCH = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=60)
_LARGEST_BYTES = 8 * 2**30
_KEPT_BYTES = 16 * 2**20  # of each file, so that a fleet that boots at once stays within its memory
_BLOCK_BYTES = 2**18
_REDIRECTS = 8
_SECRET_LENGTH = 12  # longer last parts of paths are keys or digests; messages show their beginning only


@dataclass(slots=True)
class File:
    """What was fetched. `content` is its beginning only where it is not `complete`; `digest` is of all of it."""

    url: str
    content_type: str
    digest: str
    content: bytes
    complete: bool = True

    def drop(self) -> None:
        """Give the memory back: the host runs on."""
        self.content = b""


class Fetcher:
    """Fetches for one host. `check` is called before each request and raises BootError while nothing gets through."""

    def __init__(self, client: aiohttp.ClientSession, at_once: asyncio.Semaphore, check: Callable[[], None]) -> None:
        """`client` and `at_once` are shared by all hosts."""
        self._client = client
        self._at_once = at_once
        self._check = check

    async def as_firmware(self, url: str) -> File:
        """HEAD for the size, then GET; a refused HEAD is no reason to stop; a redirection is (EDK2, HttpBootDxe)."""
        await self._head(url)
        return await self._get(url, UEFI_AGENT, redirects=False)

    async def as_ipxe(self, url: str) -> File:
        """GET; redirections are followed."""
        return await self._get(url, IPXE_AGENT, redirects=True)

    async def as_bmc(self, url: str) -> File:
        """GET of an image for virtual media."""
        return await self._get(url, BMC_AGENT, redirects=True)

    async def _head(self, url: str) -> None:
        self._check()
        try:
            headers = {"User-Agent": UEFI_AGENT, "Accept": "*/*"}
            async with (
                self._at_once,
                self._client.head(_verbatim(url), headers=headers, timeout=_FETCH, allow_redirects=False) as answer,
            ):
                size = answer.content_length or 0
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _failure(url, error) from error
        if answer.status == 200 and size > _LARGEST_BYTES:
            raise _too_large(url)

    async def _get(self, url: str, user_agent: str, *, redirects: bool) -> File:
        self._check()
        headers = {"User-Agent": user_agent, "Accept": "*/*"}
        try:
            async with (
                self._at_once,
                self._client.get(
                    _verbatim(url), headers=headers, timeout=_FETCH, allow_redirects=redirects, max_redirects=_REDIRECTS
                ) as answer,
            ):
                if answer.status != 200:
                    raise _refusal(url, answer)
                return await _read(url, answer)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise _failure(url, error) from error


def shown(url: str) -> str:
    """The address for a message: without its query, and without the key that may be the end of its path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    head, separator, last = parts.path.rpartition("/")
    if len(last) > _SECRET_LENGTH and "." not in last:
        last = last[: _SECRET_LENGTH // 2] + "..."
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{head}{separator}{last}"


def _verbatim(url: str) -> URL:
    """The address as it was given: firmware does not tidy up escapes. Raises ValueError."""
    return URL(url, encoded=all("!" <= mark <= "~" for mark in url))


async def _read(url: str, answer: aiohttp.ClientResponse) -> File:
    digest = hashlib.sha256()
    blocks = []
    size = 0
    async for block in answer.content.iter_chunked(_BLOCK_BYTES):
        size += len(block)
        if size > _LARGEST_BYTES:
            raise _too_large(url)
        digest.update(block)
        if size <= _KEPT_BYTES:
            blocks.append(block)
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    content = b"".join(blocks)
    return File(str(answer.url), kind, f"sha256:{digest.hexdigest()}", content, complete=len(content) == size)


def _refusal(url: str, answer: aiohttp.ClientResponse) -> BootError:
    after = answer.headers.get("Retry-After", "")
    moved = " (a redirection, which UEFI firmware does not follow)" if 300 <= answer.status < 400 else ""
    return BootError(f"{shown(url)} answered {answer.status}{moved}", float(after) if after.isdigit() else None)


def _failure(url: str, error: Exception) -> BootError:
    # The message of a client error may repeat the whole address, and with it a boot key.
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return BootError(f"{shown(url)}: {reason}")


def _too_large(url: str) -> BootError:
    return BootError(f"{shown(url)} is larger than {_LARGEST_BYTES // 2**30} GiB")
