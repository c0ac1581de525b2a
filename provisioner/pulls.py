"""Who has fetched which firmware package from us: whether a BMC came for it, and got all of it, before anybody guesses.

A BMC that cannot reach the image server, or refuses its certificate, often says no more than that the transfer failed.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv6Address, ip_address

LONGEST = 32
MOST_ADDRESSES = 65536


@dataclass(frozen=True, slots=True)
class Pull:
    """One download. A BMC that fetches by ranges makes several of them."""

    address: str
    """IP address that asked, without port."""
    digest: str
    at: datetime
    """When it ended; when it began, while nothing has been counted."""
    bytes: int
    """What was handed to the connection; 0 while it is on its way."""
    finished: bool
    """The whole answer was taken."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address took of a file since it was told to fetch it."""

    times: int
    bytes: int
    """All answers together; at least so many, where there were more than 32."""
    last: datetime | None
    """When it was there the last time; None: it never came."""


class Pulls:
    """The last downloads of each address, in memory and of this process only.

    Nothing says that nobody saw a download, not that there was none: another process, or a web server in front, may
    have served it, and a restart forgets. Bounded: 32 for each address, and 65,536 addresses, those that came last.
    """

    def __init__(self, *, alone: bool = True) -> None:
        """Nobody has come. `alone`: no other worker of the site serves packages as well."""
        self.alone = alone
        self._by_address: OrderedDict[str, deque[Pull]] = OrderedDict()
        self._told: OrderedDict[str, tuple[str, datetime]] = OrderedDict()

    def note(self, pull: Pull) -> None:
        """Keep it; the oldest of the address goes, and the address that has not come for the longest.

        One without bytes has just begun: the note of its end takes its place.
        """
        kept = self._by_address.setdefault(_plain(pull.address), deque(maxlen=LONGEST))
        if kept and kept[-1].digest == pull.digest and not kept[-1].bytes:
            kept.pop()
        kept.append(pull)
        self._by_address.move_to_end(_plain(pull.address))
        if len(self._by_address) > MOST_ADDRESSES:
            self._by_address.popitem(last=False)

    def last(self, address: str, digest: str) -> Pull | None:
        """The newest download of this file by this address that has ended, whole or not."""
        kept = self._by_address.get(_plain(address), ())
        return next((pull for pull in reversed(kept) if pull.digest == digest and pull.bytes), None)

    def told(self, host: str, digest: str, at: datetime) -> None:
        """A BMC is told to fetch this file now. Whoever is known by a name alone cannot be told from others."""
        self.not_told(host)
        if _is_address(host):
            self._told[_plain(host)] = (digest, at)
        if len(self._told) > MOST_ADDRESSES:
            self._told.popitem(last=False)

    def not_told(self, host: str) -> None:
        """It gets what it gets by another way."""
        self._told.pop(_plain(host), None)

    def fetched(self, host: str, digest: str) -> Fetched | None:
        """What came of it; None where this process did not see it told to fetch this file."""
        known, since = self._told.get(_plain(host), ("", None))
        if known != digest or since is None:
            return None
        kept = self._by_address.get(_plain(host), ())
        taken = [pull for pull in kept if pull.digest == digest and pull.at >= since]
        return Fetched(len(taken), sum(pull.bytes for pull in taken), taken[-1].at if taken else None)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _plain(host: str) -> str:
    """One spelling of each address: a socket for both families says ::ffff:10.0.0.1."""
    if not _is_address(host):
        return host
    found = ip_address(host)
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)
