"""Looks for BMCs all the time, beside the expected list; who is found never becomes a node by it."""

import asyncio
import time
from datetime import timedelta

import structlog

from provisioner.capabilities.service import Service
from provisioner.discovery.look import Places, look
from provisioner.discovery.ssdp import SsdpSettings
from provisioner.models.found_bmc import FoundBmc, How, Scan
from provisioner.services.discoveries import discoveries
from provisioner.settings import Discovery

_log = structlog.get_logger(__name__)

_START_SECONDS = 1.0
_AT_START = timedelta(minutes=1)
"""A service that starts again and again, or many workers at once, do not look each time."""

_KEPT = timedelta(days=30)
"""What answers no more, so that it is known when it comes back."""


def places_of(discovery: Discovery, ssdp: SsdpSettings | None = None) -> Places:
    """Where a site wants us to look; `ssdp`: how, where it wants that at all."""
    return Places(discovery.ranges, int(discovery.port), (ssdp or SsdpSettings()) if discovery.ssdp else None)


async def keep_looking(
    discovery: Discovery, service: Service, *, ssdp: SsdpSettings | None = None, leases: bool = False
) -> None:
    """Soon after the start and then every so often, until cancelled. `discovery.every` is real time.

    `leases`: we give out addresses, so that there is something to look at even where no place is named.

    Of several workers on one database, one looks at a time. A look that fails is logged, and the next one tries again.
    """
    places = places_of(discovery, ssdp)
    if places.nowhere and not leases:
        return
    await asyncio.sleep(_START_SECONDS)
    within = min(discovery.every, _AT_START)
    while True:
        try:
            if await service.found.claim(service.world.clock.now(), within):
                await _look_once(places, discovery.every, service)
        except Exception as error:  # noqa: BLE001 - whatever it is, nodes do not wait for it
            _log.error("discovery_failed", error=_told(error))
        within = discovery.every
        await asyncio.sleep(discovery.every.total_seconds())


async def _look_once(places: Places, every: timedelta, service: Service) -> None:
    began, clock = time.monotonic(), service.world.clock
    began_at = clock.now()
    seen = await look(places, service.world.bmcs, known=await _known(service))
    scan = Scan(began_at, clock.now(), clock.now() + every, tuple(str(one) for one in places.networks), places.port)
    new = set(await service.found.record(scan, seen))
    await service.found.forget(began_at - _KEPT)
    told = await discoveries(service.world.nodes, service.found)
    for one in told.unexpected:
        if one.bmc in new:
            _log.warning("unexpected_bmc_found", **_fields(one.bmc), same_uuid=[node.name for node in one.same_uuid])
    counts = {"expected": len(told.expected), "unexpected": len(told.unexpected), "missing": len(told.missing)}
    _log.info("discovery_finished", found=len(seen), seconds=round(time.monotonic() - began, 1), **counts)


async def _known(service: Service) -> list[FoundBmc]:
    """Of those that were found by their lease, the ones that have it still."""
    leased = await service.world.hosts.leased(service.world.clock.now())
    return [one for one in await service.found.all() if one.how is not How.DHCP or one.address.host in leased]


def _fields(bmc: FoundBmc) -> dict[str, str]:
    return {
        "bmc": str(bmc.address),
        "uuid": bmc.uuid,
        "vendor": bmc.vendor,
        "product": bmc.product,
        "how": bmc.how,
    }


def _told(error: BaseException) -> str:
    """The first cause, as groups only count theirs."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
