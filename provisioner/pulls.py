"""Who has fetched which firmware package from us: whether a BMC came for it, and got all of it, before anybody guesses.

A BMC that cannot reach the image server, or refuses its certificate, often says no more than that the transfer failed.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime

LONGEST = 32
MOST_ADDRESSES = 65536


@dataclass(frozen=True, slots=True)
class Pull:
    """One download. A BMC that fetches by ranges makes several of them."""

    address: str
    """IP address that asked, without port."""
    digest: str
    at: datetime
    """When it ended."""
    bytes: int
    """What was handed to the connection."""
    finished: bool
    """The whole answer was taken."""


class Pulls:
    """The last downloads of each address, in memory and of this process only.

    None says that nobody saw a download, not that there was none: another process, or a web server in front, may have
    served it, and a restart forgets. Bounded: 32 for each address, and 65,536 addresses, those that came last.
    """

    def __init__(self) -> None:
        """Nobody has come."""
        self._by_address: OrderedDict[str, deque[Pull]] = OrderedDict()

    def note(self, pull: Pull) -> None:
        """Keep it; the oldest of the address goes, and the address that has not come for the longest."""
        kept = self._by_address.setdefault(pull.address, deque(maxlen=LONGEST))
        kept.append(pull)
        self._by_address.move_to_end(pull.address)
        if len(self._by_address) > MOST_ADDRESSES:
            self._by_address.popitem(last=False)

    def last(self, address: str, digest: str) -> Pull | None:
        """The newest download of this file by this address, whole or not."""
        kept = self._by_address.get(address, ())
        return next((pull for pull in reversed(kept) if pull.digest == digest), None)
