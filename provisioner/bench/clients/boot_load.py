"""What firmware, iPXE and initrds ask the boot service, from many servers at once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from provisioner.bench.boot_site import BootSite, Waiting
from provisioner.bench.clients.connection import Connection, Load, timed

_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of question. `words` stand in each right answer; `path`: of the question of one server."""

    name: str
    method: str
    words: bytes
    path: Callable[[Waiting, str], str]


def _identity(one: Waiting, _: str) -> str:
    return "/boot/ipxe?" + urlencode({"uuid": one.uuid, "serial": one.serial, "mac": "", "arch": "x86_64"})


def _words(one: Waiting, image: str) -> str:
    said = {"uuid": one.uuid, "serial": one.serial, "mac": "", "arch": "x86_64", "image": image}
    return "/boot/words?" + urlencode(said)


def _program(one: Waiting, _: str) -> str:
    return f"/boot/{one.key}/boot.efi"


KINDS = (
    Kind("iPXE by identity", "GET", b"firstlight.token=", _identity),
    Kind("words of an initrd", "GET", b"firstlight.token=", _words),
    Kind("HEAD of a boot program", "HEAD", b"application/efi", _program),
)


def boot_load(site: BootSite, kind: str, *, connections: int, seconds: float) -> Load:
    """Every server asks in turn, over kept connections; the first answers come before anything counts.

    Raises `BadInput` for any answer that boots nothing.
    """
    return asyncio.run(_boot_load(site, next(one for one in KINDS if one.name == kind), connections, seconds))


async def _boot_load(site: BootSite, kind: Kind, connections: int, seconds: float) -> Load:
    asked = [_request(kind, one, site) for one in site.waiting]
    async with asyncio.timeout(_PATIENCE_SECONDS + seconds):
        opened = [await _open(site.port, kind, asked[number::connections]) for number in range(connections)]
        await opened[0].ask_first()
        return await timed(opened, seconds, site.pid)


def _request(kind: Kind, one: Waiting, site: BootSite) -> bytes:
    path = kind.path(one, site.image)
    return f"{kind.method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n\r\n".encode()


async def _open(port: int, kind: Kind, asked: Sequence[bytes]) -> Connection:
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: Connection(list(asked), words=kind.words, bodies=kind.method != "HEAD"), "127.0.0.1", port
    )
    return connection
