"""A pull: the BMC fetches the image of an update, from its own address, as far as its network lets it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit

import aiohttp

from emulator.machine.machine import Machine
from emulator.machine.update_offers import offers
from emulator.machine.update_orders import Load
from emulator.netboot.fetch import shown
from emulator.package import START_BYTES, Image

_FETCHED = ("http", "https")
_CHUNK_BYTES = 2**16


def fetch_later(machine: Machine, address: str, username: str, password: str) -> Load:
    """What fetches `address` when it is called. It raises OSError or ValueError, which say what became of it."""

    async def load() -> Image:
        scheme = address.partition("://")[0].lower()
        if scheme not in _FETCHED:
            raise OSError(f"no server answers over {scheme.upper()}; this emulator fetches over HTTP and HTTPS only")
        login = aiohttp.BasicAuth(username, password) if username else None
        cut = machine.board.faults.take("image-not-fetched")
        if cut is None:
            return await _fetched(machine, address, login, None)
        if cut["bytes"]:
            await _fetched(machine, address, login, int(cut["bytes"]))
        if cut["hangs"]:
            await asyncio.Event().wait()
        raise OSError(f"the transfer from {shown(address)} failed")

    return load


async def _fetched(machine: Machine, address: str, login: aiohttp.BasicAuth | None, most: int | None) -> Image:
    """`most`: no more bytes than these. Raises ValueError with words that keep what is in the address."""
    offered = offers(machine.board)
    try:
        async with (
            _client(machine, address) as client,
            client.get(address, auth=login, ssl=offered.verifies_servers) as answer,
        ):
            if answer.status >= 400:
                raise ValueError(f"{shown(address)} answered {answer.status}")
            if most is not None:
                return Image(await answer.content.read(most), most)  # what there is of it: nobody uses it
            return await _counted(answer, offered.most_bytes)
    except aiohttp.ClientConnectorError:  # its message names the host, no more
        raise
    except aiohttp.ClientError as error:  # its message may repeat the whole address, and with it a key
        raise ValueError(f"{shown(address)} cannot be fetched: {type(error).__name__}") from error


@asynccontextmanager
async def _client(machine: Machine, address: str) -> AsyncIterator[aiohttp.ClientSession]:
    """From the BMC's own address, so that servers see who comes; from 127/8 nothing else can be reached that way."""
    if not _is_loopback(urlsplit(address).hostname or ""):
        yield machine.client
        return
    connector = aiohttp.TCPConnector(local_addr=(machine.board.entry.address, 0))
    async with aiohttp.ClientSession(connector=connector) as client:
        yield client


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback and ip_address(host).version == 4
    except ValueError:
        return False


async def _counted(answer: aiohttp.ClientResponse, most_bytes: int | None) -> Image:
    start_bytes, size = bytearray(), 0
    async for chunk in answer.content.iter_chunked(_CHUNK_BYTES):
        size += len(chunk)
        if most_bytes and size > most_bytes:
            raise ValueError(f"the image has more than {most_bytes} bytes")
        if len(start_bytes) < START_BYTES:
            start_bytes += chunk
    return Image(bytes(start_bytes[:START_BYTES]), size)
