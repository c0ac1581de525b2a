"""Clients that are slow, silent or talk nonsense hold no connection of a BMC for ever."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from emulator.http_protocol import BmcProtocol

Talk = tuple[asyncio.StreamReader, asyncio.StreamWriter]
GET = b"GET /redfish/v1 HTTP/1.1\r\nHost: bmc\r\n"
POST = b"POST /redfish/v1 HTTP/1.1\r\nHost: bmc\r\nContent-Length: 100000\r\n\r\n"
BIG = 32 * 2**20


class Hasty(BmcProtocol):
    """The same, for tests that are short."""

    patience_seconds = 0.4
    stall_seconds = 0.4


async def bmc(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]) -> None:
    while (await receive()).get("more_body"):
        pass
    body = b"x" * (BIG if scope["path"] == "/big" else 2)
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def connected() -> AsyncIterator[Talk]:
    config = Config(bmc, log_config=None, lifespan="off", ws="none", timeout_keep_alive=60)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(lambda: Hasty(config, state, {}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        yield reader, writer
        writer.close()


async def answer(talk: Talk, request: bytes, trickle: bytes = b"") -> bytes:
    """All that comes until the BMC hangs up; `trickle` is sent every tenth of a second meanwhile."""
    reader, writer = talk
    writer.write(request)
    whole = asyncio.create_task(reader.read())
    for _ in range(30):
        done, _ = await asyncio.wait([whole], timeout=0.1)
        if done:
            return whole.result()
        writer.write(trickle)
    whole.cancel()
    raise AssertionError("still connected")


@pytest.mark.parametrize(
    ("request_", "trickle", "status"),
    [
        (b"", b"", b""),
        (b"", b"\r\n", b""),
        (GET, b"", b"408"),
        (GET, b"X: y\r\n", b"408"),
        (POST, b"", b"408"),
        (POST, b"x", b"408"),
    ],
    ids=["silent", "blank-lines", "half-headers", "trickled-headers", "no-body", "trickled-body"],
)
async def test_a_request_that_does_not_come_in_time_is_not_waited_for(
    request_: bytes, trickle: bytes, status: bytes
) -> None:
    """Slow requests: RFC 9110, 15.5.9; the rule is that of Apache's RequestReadTimeout."""
    async with connected() as talk:
        assert (await answer(talk, request_, trickle))[9:12] == status


async def test_a_client_that_sends_fast_enough_may_take_longer() -> None:
    """A slow upload is not an attack."""
    async with connected() as (reader, writer):
        writer.write(POST)
        for _ in range(20):
            writer.write(b"x" * 5000)
            await asyncio.sleep(0.05)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")


async def test_a_connection_that_is_kept_may_be_idle_for_longer() -> None:
    """Sixty seconds; clients rely on it."""
    async with connected() as (reader, writer):
        for _ in range(2):
            writer.write(GET + b"\r\n")
            assert (await reader.readuntil(b"\r\n\r\nxx")).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.6)


async def test_pipelined_requests_are_answered_in_order() -> None:
    """RFC 9112, 9.3.2."""
    async with connected() as (reader, writer):
        writer.write((GET + b"\r\n") * 3)
        for _ in range(3):
            assert (await reader.readuntil(b"\r\n\r\nxx")).startswith(b"HTTP/1.1 200")


async def test_who_does_not_read_the_answer_is_cut_off() -> None:
    """What is not read is kept in memory meanwhile."""
    async with connected() as (reader, writer):
        writer.write(GET.replace(b"/redfish/v1", b"/big") + b"\r\n")
        await asyncio.sleep(1)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(BIG)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (GET + b"X: " + b"y" * 70_000, b"431"),
        (b"BREW /redfish/v1 HTTP/1.1\r\n\r\n", b"501"),
        (POST[:-2] + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"\x16\x03\x01 no HTTP at all\r\n", b"400"),
    ],
    ids=["long-headers", "unknown-method", "two-lengths", "noise"],
)
async def test_what_is_no_request_is_refused_in_words_of_redfish(request_: bytes, status: bytes) -> None:
    """RFC 6585, 5; RFC 9110, 15.6.2; RFC 9112, 6.1."""
    async with connected() as talk:
        answered = await answer(talk, request_)
    assert answered[9:12] == status
    assert b"@Message.ExtendedInfo" in answered
