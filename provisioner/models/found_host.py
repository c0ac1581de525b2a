"""Hosts that asked for an address or for something to boot, whether anybody planned them or not."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class HostHow(StrEnum):
    """How a host was noticed."""

    DHCP = "dhcp"
    BOOT = "boot"


@dataclass(frozen=True, slots=True)
class FoundHost:
    """What is remembered of a network card. Empty strings: it did not say.

    `mac`: lower case, with colons. `client_class`: the vendor class of its DHCP request, or what it said as `arch`.
    `how`: what noticed it first.
    """

    mac: str
    address: str
    client_class: str
    uuid: str
    serial: str
    how: HostHow
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """An address that our DHCP server has given out. `until` is None for ever."""

    mac: str
    address: str
    at: datetime
    until: datetime | None
    client_class: str = ""
