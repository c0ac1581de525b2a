"""BMCs that were found by looking, whether anybody planned them or not."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.inventory import Identity
from provisioner.models.node import BmcAddress


class How(StrEnum):
    """What led to the address."""

    SCAN = "scan"
    SSDP = "ssdp"
    DHCP = "dhcp"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A BMC that answered just now, with what its service root says to everybody."""

    address: BmcAddress
    identity: Identity
    how: How


@dataclass(frozen=True, slots=True)
class FoundBmc:
    """What is remembered of an address where a BMC has answered. Empty strings: it does not say."""

    address: BmcAddress
    uuid: str
    vendor: str
    product: str
    first_seen: datetime
    last_seen: datetime
    how: How


@dataclass(frozen=True, slots=True)
class Scan:
    """The last look around that came to its end. Who answered in it was last seen at or after `began_at`."""

    began_at: datetime
    finished_at: datetime
    next_at: datetime
    """When the next one is due."""
    networks: tuple[str, ...]
    """Every address of these was asked, such as `10.0.1.0/24`."""
    port: int
