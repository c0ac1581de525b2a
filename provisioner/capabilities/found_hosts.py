"""The memory of hosts that asked us for something, by the MAC of the card that asked."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from provisioner.models.found_host import FoundHost, Lease


class Hosts(Protocol):
    """Every card that got an address from our DHCP server or asked what to boot, also those of nodes."""

    async def note(self, host: FoundHost) -> bool:
        """Add to what is known: what `host` does not say stays as it was. True when this MAC is new.

        A host without a valid MAC cannot be told from others: it is not kept. The address that a lease gives is
        believed, another one only where there is no lease.
        """
        ...

    async def take_leases(self, leases: Sequence[Lease]) -> Sequence[Lease]:
        """Note hosts by their leases, in order; those whose MAC is new, or has another address than before."""
        ...

    async def release(self, mac: str, address: str) -> None:
        """The lease has ended."""
        ...

    async def all(self) -> Sequence[FoundHost]:
        """By MAC; also those that were seen long ago."""
        ...

    async def strangers(self) -> Sequence[FoundHost]:
        """Those that are no card and no BMC of a node, by MAC, UUID, serial or address, and no BMC that was found."""
        ...

    async def by_address(self, address: str) -> str | None:
        """The MAC that got this address last from our DHCP server, 0.1 s after it did; None when nobody did."""
        ...

    async def leased(self, now: datetime) -> Collection[str]:
        """The addresses that are given out now."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was last seen before; how many."""
        ...
