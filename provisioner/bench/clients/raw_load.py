"""A load of GETs that costs its own process as little as possible: one request on the way per kept connection."""

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass

from provisioner.bench.clients.bare_aiohttp import AT_ONCE, client, log_in
from provisioner.bench.process import cpu_seconds, own_cpu_seconds
from provisioner.bench.resources import Resources
from provisioner.bench.targets import Target
from provisioner.errors import BadInput

_PATIENCE_SECONDS = 300.0
_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


@dataclass(frozen=True, slots=True)
class Load:
    """What was answered in `seconds`, and what it cost: the emulator, and the process that asked."""

    connections: int
    seconds: float
    requests: int
    emulator_cpu_seconds: float
    client_cpu_seconds: float


def load(
    targets: Sequence[Target], resources: dict[str, Resources], *, connections: int, seconds: float, emulator: int
) -> Load:
    """`connections` to each target; each resource is asked for once before anything counts. `emulator`: its process.

    Raises `BadInput` for any answer but 200.
    """
    return asyncio.run(_load(targets, resources, connections=connections, seconds=seconds, emulator=emulator))


async def _load(
    targets: Sequence[Target], resources: dict[str, Resources], *, connections: int, seconds: float, emulator: int
) -> Load:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    gate = asyncio.Semaphore(AT_ONCE)

    async def open_all(target: Target) -> list[_Connection]:
        async with gate, client() as session:
            token, _ = await log_in(session, target)
            asked = _requests(target, token["X-Auth-Token"], resources[target.persona].paths)
            return [await _open(target, asked, context) for _ in range(connections)]

    async with asyncio.timeout(_PATIENCE_SECONDS + seconds):
        opened = [one for found in await asyncio.gather(*map(open_all, targets)) for one in found]
        await asyncio.gather(*(one.ask_each() for one in opened))
        return await _timed(opened, seconds, emulator)


async def _timed(opened: "list[_Connection]", seconds: float, emulator: int) -> Load:
    for one in opened:
        one.ask_on()
    before, own, spent, started = _answered(opened), own_cpu_seconds(), cpu_seconds(emulator), time.monotonic()
    await asyncio.sleep(seconds)
    took, answered = time.monotonic() - started, _answered(opened) - before
    result = Load(len(opened), took, answered, cpu_seconds(emulator) - spent, own_cpu_seconds() - own)
    lost = [one.wrong for one in opened if one.wrong]
    for one in opened:
        one.close()
    if lost:
        raise BadInput(f"{len(lost)} of {len(opened)} connections of the load were lost: {lost[0]}")
    return result


class _Connection(asyncio.Protocol):
    """Asks for `asked` in turn; the next one goes out when the answer is complete."""

    def __init__(self, asked: list[bytes]) -> None:
        self.asked = asked
        self.answered = 0
        self.wrong = ""
        self._transport: asyncio.Transport | None = None
        self._last: int | None = 0
        self._rested: asyncio.Future[None] | None = None
        self._buffer = b""

    async def ask_each(self) -> None:
        """Ask for each once. Raises `BadInput`."""
        self._rested = asyncio.get_running_loop().create_future()
        self._last = self.answered + len(self.asked)
        self._ask()
        await self._rested

    def ask_on(self) -> None:
        """Ask until it is closed."""
        self._rested = self._last = None
        self._ask()

    def close(self) -> None:
        """Ask no more."""
        if self._transport:
            self._transport.abort()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """As asyncio says."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  (for the type)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """As asyncio says."""
        buffer = self._buffer = self._buffer + data if self._buffer else data
        end = buffer.find(_END)
        if end < 0:
            return
        head = buffer[:end].lower()
        at = head.find(_LENGTH)
        if not head.startswith(b"http/1.1 200") or at < 0:
            self._lost(f"it answered {head[:60]!r}")
        elif len(buffer) >= end + len(_END) + int(head[at + len(_LENGTH) :].partition(b"\r\n")[0]):
            self._buffer = b""
            self.answered += 1
            self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        """As asyncio says; after our own end of it there is nothing to lose."""
        if self._transport:
            self._lost(f"it closed the connection ({error})")

    def _ask(self) -> None:
        if self.answered != self._last and self._transport:
            self._transport.write(self.asked[self.answered % len(self.asked)])
        elif self._rested and not self._rested.done():
            self._rested.set_result(None)

    def _lost(self, reason: str) -> None:
        self.wrong = reason
        if self._rested and not self._rested.done():
            self._rested.set_exception(BadInput(f"the load was not answered: {reason}"))
        self.close()


async def _open(target: Target, asked: list[bytes], context: ssl.SSLContext) -> _Connection:
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: _Connection(asked), target.address.host, target.address.port, ssl=context if target.tls else None
    )
    return connection


def _requests(target: Target, token: str, paths: Sequence[str]) -> list[bytes]:
    head = f"Host: {target.address}\r\nX-Auth-Token: {token}\r\nAccept: application/json\r\n\r\n"
    return [f"GET {path} HTTP/1.1\r\n{head}".encode() for path in paths]


def _answered(opened: list[_Connection]) -> int:
    return sum(one.answered for one in opened)
