"""Kept connections that ask in turn, one request on the way each, and cost their own process as little as possible."""

import asyncio
import time
from dataclasses import dataclass

from provisioner.bench.process import cpu_seconds, own_cpu_seconds
from provisioner.errors import BadInput

_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


@dataclass(frozen=True, slots=True)
class Load:
    """What was answered in `seconds`, and what it cost: the server, and the process that asked."""

    connections: int
    seconds: float
    requests: int
    server_cpu_seconds: float
    client_cpu_seconds: float


class Connection(asyncio.Protocol):
    """Asks for `asked` in turn; the next one goes out when the answer is complete."""

    def __init__(self, asked: list[bytes], *, words: bytes = b"", bodies: bool = True) -> None:
        """`words` stand in every right answer; `bodies`: answers have them, as those to HEAD have not."""
        self.asked = asked
        self._words, self._bodies = words, bodies
        self.answered = 0
        self.wrong = ""
        self._transport: asyncio.Transport | None = None
        self._last: int | None = 0
        self._rested: asyncio.Future[None] | None = None
        self._buffer = b""

    async def ask_each(self) -> None:
        """Ask for each once. Raises `BadInput`."""
        await self.ask_first(len(self.asked))

    async def ask_first(self, count: int = 1) -> None:
        """Ask so often, and wait for the answers. Raises `BadInput`."""
        self._rested = asyncio.get_running_loop().create_future()
        self._last = self.answered + count
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
            return
        body_bytes = int(head[at + len(_LENGTH) :].partition(b"\r\n")[0]) if self._bodies else 0
        if len(buffer) < end + len(_END) + body_bytes:
            return
        if self._words in buffer:
            self._buffer = b""
            self.answered += 1
            self._ask()
        else:
            self._lost(f"{self._words!r} does not stand in the answer {buffer[end : end + 200]!r}")

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


async def timed(opened: "list[Connection]", seconds: float, server: int) -> Load:
    """Let all ask for `seconds`, then close them. `server`: its process. Raises `BadInput` when one was lost."""
    for one in opened:
        one.ask_on()
    before, own, spent, started = _answered(opened), own_cpu_seconds(), cpu_seconds(server), time.monotonic()
    await asyncio.sleep(seconds)
    took, answered = time.monotonic() - started, _answered(opened) - before
    result = Load(len(opened), took, answered, cpu_seconds(server) - spent, own_cpu_seconds() - own)
    lost = [one.wrong for one in opened if one.wrong]
    for one in opened:
        one.close()
    if lost:
        raise BadInput(f"{len(lost)} of {len(opened)} connections of the load were lost: {lost[0]}")
    return result


def _answered(opened: list[Connection]) -> int:
    return sum(one.answered for one in opened)
