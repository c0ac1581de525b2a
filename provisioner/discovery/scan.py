"""Looking for BMCs at every address of some ranges: first who accepts a connection, then who speaks Redfish."""

import asyncio
import errno
from collections.abc import Awaitable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_address

from provisioner.capabilities.bmcs import Bmcs
from provisioner.errors import BadInput
from provisioner.models.inventory import Identity
from provisioner.models.node import BmcAddress

Network = IPv4Network | IPv6Network
LARGEST = 2**20
_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""It is this machine that cannot, whoever was asked."""


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """In a real network nearly all addresses are silent: time = addresses x `connect_seconds` x 2 / `connects`."""

    connects: int = 2000
    """Connections tried at once."""
    probes: int = 200
    """Service roots read at once: TLS costs about 1 ms of CPU each, and a full core makes us miss answers."""
    connect_seconds: float = 1.0


async def scan(
    networks: Iterable[Network], port: int, bmcs: Bmcs, *, settings: ScanSettings | None = None
) -> tuple[tuple[BmcAddress, Identity], ...]:
    """Every BMC found, by address. Sends no credentials; who does not answer is asked once more.

    Raises `BadInput` when the ranges hold more than a million addresses, and `OSError` (in a group) when we have no
    file descriptors left: then nobody knows who is silent.
    """
    chosen = settings or ScanSettings()
    hosts = _hosts(list(networks))
    listening: asyncio.Queue[BmcAddress | None] = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        group.create_task(_connect_all(hosts, port, listening, settings=chosen))
        probing = [group.create_task(_probe_each(listening, bmcs)) for _ in range(chosen.probes)]
    return _sorted(probing)


async def probe_all(
    addresses: Iterable[BmcAddress], bmcs: Bmcs, *, settings: ScanSettings | None = None
) -> tuple[tuple[BmcAddress, Identity], ...]:
    """Who of these is a BMC, by address; the same look as that of a scan."""
    chosen = settings or ScanSettings()
    waiting: asyncio.Queue[BmcAddress | None] = asyncio.Queue()
    for entry in (*addresses, *[None] * chosen.probes):
        waiting.put_nowait(entry)
    async with asyncio.TaskGroup() as group:
        probing = [group.create_task(_probe_each(waiting, bmcs)) for _ in range(chosen.probes)]
    return _sorted(probing)


async def _connect_all(
    hosts: Iterator[str], port: int, listening: asyncio.Queue[BmcAddress | None], *, settings: ScanSettings
) -> None:
    """Put who accepts a connection into the queue, and then None for each of the probing tasks."""
    silent: list[str] = []

    async def connect(host: str, *, again: bool) -> None:
        if await _accepts(host, port, settings.connect_seconds):
            listening.put_nowait(BmcAddress(host, port))
        elif again:
            silent.append(host)

    await _bounded((connect(host, again=True) for host in hosts), settings.connects)
    await _bounded((connect(host, again=False) for host in silent), settings.connects)
    for _ in range(settings.probes):
        listening.put_nowait(None)


async def _probe_each(listening: asyncio.Queue[BmcAddress | None], bmcs: Bmcs) -> list[tuple[BmcAddress, Identity]]:
    found = []
    while (address := await listening.get()) is not None:
        identity = await bmcs.probe(address) or await bmcs.probe(address)
        if identity is not None:
            found.append((address, identity))
    return found


def _sorted(
    probing: Iterable[asyncio.Task[list[tuple[BmcAddress, Identity]]]],
) -> tuple[tuple[BmcAddress, Identity], ...]:
    found = [one for task in probing for one in task.result()]
    return tuple(sorted(found, key=lambda one: _order(one[0])))


async def _bounded(work: Iterable[Awaitable[None]], most: int) -> None:
    """Run all of `work`, `most` at once, without making a task for each in advance."""
    waiting = iter(work)

    async def some() -> None:
        for one in waiting:
            await one

    async with asyncio.TaskGroup() as group:
        for _ in range(most):
            group.create_task(some())


async def _accepts(host: str, port: int, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return False
    except OSError as error:
        if error.errno in _OURS:
            raise
        return False
    writer.transport.abort()
    return True


def _hosts(networks: list[Network]) -> Iterator[str]:
    size = sum(network.num_addresses for network in networks)
    if size > LARGEST:
        raise BadInput(f"the ranges to scan hold {size} addresses; at most {LARGEST} make sense: name smaller ones")
    return (str(host) for network in _distinct(networks) for host in network.hosts())


def _distinct(networks: list[Network]) -> Iterator[Network]:
    yield from collapse_addresses(one for one in networks if isinstance(one, IPv4Network))
    yield from collapse_addresses(one for one in networks if isinstance(one, IPv6Network))


def _order(address: BmcAddress) -> tuple[int, int]:
    host = ip_address(address.host)
    return host.version, int(host)
