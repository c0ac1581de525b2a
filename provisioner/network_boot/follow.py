"""Our own leases as a source of discovery: hosts are noted, and what may be a BMC is looked at."""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from provisioner.capabilities.bmcs import Bmcs
from provisioner.capabilities.found_bmcs import FoundBmcs
from provisioner.capabilities.found_hosts import Hosts
from provisioner.models.found_bmc import FoundBmc, How, Sighting
from provisioner.models.found_host import FoundHost, HostHow, Lease
from provisioner.models.node import BmcAddress
from provisioner.network_boot.bmc_classes import is_bmc
from provisioner.network_boot.lease_events import Follower, LeaseEvent

_log = structlog.get_logger(__name__)

_PROXY = re.compile(r"PXE\(\S+\) (?P<mac>[0-9a-f:]{17}) proxy")
_EVERY_SECONDS = 0.05
"""Firmware that boots by HTTP asks us some ten milliseconds after its lease."""

_LOOKS_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds after the lease at which a BMC is looked for: many ask for an address minutes before they answer."""

    bmc: tuple[float, ...] = (0, 20, 60, 180, 300)
    other: tuple[float, ...] = (0, 120)


@dataclass(slots=True)
class LeaseWatch:
    """Who asks for addresses. `port`: of the service roots; `now`: aware."""

    folder: Path
    hosts: Hosts
    found: FoundBmcs
    bmcs: Bmcs
    port: int
    now: Callable[[], datetime]
    patience: Patience = Patience()
    _looks: set[asyncio.Task[None]] = field(default_factory=set)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_LOOKS_AT_ONCE))
    _began: bool = False
    _proxied: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Until cancelled. What fails is logged, and the next event tries again."""
        follower = Follower(self.folder)
        try:
            while True:
                try:
                    await self._take(list(follower.new_events()))
                except Exception as error:  # noqa: BLE001 - whatever it is, addresses are given out all the same
                    _log.error("lease_events_failed", error=f"{type(error).__name__}: {error}")
                    follower.close()
                    await asyncio.sleep(1)
                await asyncio.sleep(_EVERY_SECONDS)
        finally:
            follower.close()
            for look in self._looks:
                look.cancel()

    def hear(self, line: str) -> None:
        """A line of dnsmasq's log: in proxy mode it says by name who asked."""
        if asker := _PROXY.search(line):
            self._proxied.append(asker["mac"])

    async def _take(self, events: list[LeaseEvent]) -> None:
        proxied, self._proxied = self._proxied, []
        for mac in dict.fromkeys(proxied):
            await self.hosts.note(FoundHost(mac, "", "", "", "", HostHow.DHCP, self.now(), self.now()))
        fresh: list[Lease] = []
        for batch in _batches(events):
            if batch[0].over:
                for event in batch:
                    await self.hosts.release(event.lease.mac, event.lease.address)
            else:
                fresh += await self.hosts.take_leases([event.lease for event in batch])
        fresh += self._looks_lost(events)
        firmware = {event.lease.mac for event in events if event.firmware}
        for lease in dict.fromkeys(fresh):
            _log.info("address_given", mac=lease.mac, address=lease.address, client_class=lease.client_class)
            if lease.mac not in firmware and (lease.until is None or lease.until > self.now()):
                self._look_later(lease)

    def _looks_lost(self, events: list[LeaseEvent]) -> list[Lease]:
        """Of a process before this one that ended before it had looked long enough."""
        if self._began:
            return []
        self._began = True
        recent = self.now() - timedelta(seconds=max(self.patience.bmc))
        return [event.lease for event in events if not event.over and event.lease.at > recent]

    def _look_later(self, lease: Lease) -> None:
        look = asyncio.create_task(self._look(lease))
        self._looks.add(look)
        look.add_done_callback(self._looks.discard)

    async def _look(self, lease: Lease) -> None:
        waited = 0.0
        for after in self.patience.bmc if is_bmc(lease.client_class) else self.patience.other:
            await asyncio.sleep(after - waited)
            waited = after
            if await self.hosts.by_address(lease.address) != lease.mac:
                return  # it is somebody else's now
            async with self._slots:
                identity = await self.bmcs.probe(BmcAddress(lease.address, self.port))
            if identity is not None:
                seen = Sighting(BmcAddress(lease.address, self.port), identity, How.DHCP)
                _tell(await self.found.note([seen], self.now()))
                return


def _tell(new: Iterable[FoundBmc]) -> None:
    for bmc in new:
        _log.info("bmc_found", bmc=str(bmc.address), uuid=bmc.uuid, vendor=bmc.vendor, how=bmc.how)


def _batches(events: list[LeaseEvent]) -> Iterable[list[LeaseEvent]]:
    """Neighbours of one kind together, in order, at most 500: one transaction each."""
    batch: list[LeaseEvent] = []
    for event in events:
        if batch and (batch[0].over != event.over or len(batch) == 500):
            yield batch
            batch = []
        batch.append(event)
    if batch:
        yield batch
