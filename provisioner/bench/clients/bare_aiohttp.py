"""The floor: aiohttp with nothing around it. One connection and one session per BMC, one request at a time."""

import asyncio
from collections.abc import Sequence
from typing import Any

import aiohttp
import orjson

from provisioner.bench.resources import Resources
from provisioner.bench.targets import Target
from provisioner.errors import BadInput

AT_ONCE = 64
"""BMCs that an asyncio client reads at the same time."""
SESSIONS = "/redfish/v1/SessionService/Sessions"
_SECONDS = 120.0
Document = dict[str, Any]


def read_each(targets: Sequence[Target], resources: dict[str, Resources]) -> int:
    """One GET per resource; how many documents came. Raises `BadInput` when a BMC says no."""
    return asyncio.run(_read_all(targets, {persona: known.paths for persona, known in resources.items()}))


def read_expanded(targets: Sequence[Target], resources: dict[str, Resources]) -> int:
    """One GET per collection with its members, where the BMC offers that; how many documents came."""
    return asyncio.run(_read_all(targets, {persona: known.expanded for persona, known in resources.items()}))


def documents_of(target: Target, paths: Sequence[str]) -> dict[str, Document]:
    """What one BMC answers; paths that it does not have are left out."""

    async def read() -> dict[str, Document]:
        async with client() as session:
            token, path = await log_in(session, target)
            found = {}
            for one in paths:
                async with session.get(target.url + one, headers=token) as answer:
                    if answer.status == 200:
                        found[one] = orjson.loads(await answer.read())
            await _log_out(session, target.url + path, token)
            return found

    return asyncio.run(read())


def client() -> aiohttp.ClientSession:
    """A session for any number of BMCs, whose certificates nobody signed."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=False),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=_SECONDS),
    )


async def log_in(session: aiohttp.ClientSession, target: Target) -> tuple[dict[str, str], str]:
    """The header that authenticates, and the path of the Redfish session."""
    body = {"UserName": target.credentials.username, "Password": target.credentials.password.reveal()}
    async with session.post(target.url + SESSIONS, json=body) as answer:
        if answer.status != 201:
            raise BadInput(f"{target.name}: the login was refused with {answer.status}")
        return {"X-Auth-Token": answer.headers["X-Auth-Token"]}, answer.headers["Location"]


async def _read_all(targets: Sequence[Target], paths: dict[str, tuple[str, ...]]) -> int:
    gate = asyncio.Semaphore(AT_ONCE)

    async def read(target: Target) -> int:
        async with gate:
            return await _read(session, target, paths[target.persona])

    async with client() as session:
        return sum(await asyncio.gather(*(read(target) for target in targets)))


async def _read(session: aiohttp.ClientSession, target: Target, paths: tuple[str, ...]) -> int:
    token, location = await log_in(session, target)
    count = 0
    for path in paths:
        async with session.get(target.url + path, headers=token) as answer:
            document = orjson.loads(await answer.read())
            if answer.status != 200:
                raise BadInput(f"{target.name}: GET {path}: {answer.status}")
        count += 1 + ("$expand" in path and len(document["Members"]))
    await _log_out(session, target.url + location, token)
    return count


async def _log_out(session: aiohttp.ClientSession, url: str, token: dict[str, str]) -> None:
    async with session.delete(url, headers=token) as answer:
        await answer.read()
