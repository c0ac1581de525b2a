"""A load of GETs that costs its own process as little as possible: one request on the way per kept connection."""

import asyncio
import ssl
from collections.abc import Sequence

from provisioner.bench.clients.bare_aiohttp import AT_ONCE, client, log_in
from provisioner.bench.clients.connection import Connection, Load, timed
from provisioner.bench.resources import Resources
from provisioner.bench.targets import Target

_PATIENCE_SECONDS = 300.0


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

    async def open_all(target: Target) -> list[Connection]:
        async with gate, client() as session:
            token, _ = await log_in(session, target)
            asked = _requests(target, token["X-Auth-Token"], resources[target.persona].paths)
            return [await _open(target, asked, context) for _ in range(connections)]

    async with asyncio.timeout(_PATIENCE_SECONDS + seconds):
        opened = [one for found in await asyncio.gather(*map(open_all, targets)) for one in found]
        await asyncio.gather(*(one.ask_each() for one in opened))
        return await timed(opened, seconds, emulator)


async def _open(target: Target, asked: list[bytes], context: ssl.SSLContext) -> Connection:
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: Connection(asked), target.address.host, target.address.port, ssl=context if target.tls else None
    )
    return connection


def _requests(target: Target, token: str, paths: Sequence[str]) -> list[bytes]:
    head = f"Host: {target.address}\r\nX-Auth-Token: {token}\r\nAccept: application/json\r\n\r\n"
    return [f"GET {path} HTTP/1.1\r\n{head}".encode() for path in paths]
