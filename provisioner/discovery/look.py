"""One look around: the ranges, who announces himself, and who did so earlier. Sends no credentials."""

import resource
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from provisioner.capabilities.bmcs import Bmcs
from provisioner.discovery.found import covers
from provisioner.discovery.scan import Network, ScanSettings, probe_all, scan
from provisioner.discovery.ssdp import SsdpSettings, search
from provisioner.models.found_bmc import FoundBmc, How, Sighting
from provisioner.models.node import BmcAddress

_MOST_ANNOUNCED = 4096
"""Anybody on the segment may announce any number of addresses."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look. `ssdp` is None where nobody shall search by it."""

    networks: tuple[Network, ...]
    port: int
    ssdp: SsdpSettings | None = None

    @property
    def nowhere(self) -> bool:
        """There is nothing to look at."""
        return not self.networks and self.ssdp is None


async def look(
    places: Places, bmcs: Bmcs, *, known: Iterable[FoundBmc] = (), settings: ScanSettings | None = None
) -> tuple[Sighting, ...]:
    """Everybody who answers, each address once. Raises `BadInput` for ranges that are too large, `OSError`."""
    chosen = settings or settings_here()
    scanned = await scan(places.networks, places.port, bmcs, settings=chosen) if places.networks else ()
    found = [Sighting(address, identity, How.SCAN) for address, identity in scanned]
    announced = await search(places.ssdp) if places.ssdp else frozenset()
    others = dict(_elsewhere(places, known, announced))
    answered = await probe_all(others, bmcs, settings=chosen)
    return (*found, *(Sighting(address, identity, others[address]) for address, identity in answered))


def settings_here() -> ScanSettings:
    """As many connections as leave three of four file descriptors to the API and to work on nodes."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ScanSettings()
    files = most.connects * 4 if soft == resource.RLIM_INFINITY else soft
    return ScanSettings(connects=max(16, min(most.connects, files // 4)), probes=32)


def _elsewhere(
    places: Places, known: Iterable[FoundBmc], announced: Iterable[BmcAddress]
) -> Iterator[tuple[BmcAddress, How]]:
    """What the scan did not ask. SSDP loses packets, a lease tells once: who was found so is looked at again."""
    chosen = (How.PERSON, How.DHCP, How.SSDP) if places.ssdp else (How.PERSON, How.DHCP)
    named = [_plain(address) for address in sorted(announced, key=str)[:_MOST_ANNOUNCED]]
    addresses = [(address, How.SSDP) for address in named if address]
    addresses += [(one.address, one.how) for one in known if one.how in chosen]
    for address, how in addresses:
        if not (address.port == places.port and covers(places.networks, address.host)):
            yield address, how


def _plain(address: BmcAddress) -> BmcAddress | None:
    """An announced name could lead anywhere, also tomorrow: only numbers count."""
    try:
        return BmcAddress(str(ip_address(address.host)), address.port)
    except ValueError:
        return None
