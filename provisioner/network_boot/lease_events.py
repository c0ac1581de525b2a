"""What dnsmasq's script has written down: one line per lease that began, changed or ended."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import IO

from provisioner.models.found_host import Lease

_FIELDS = 9
_LONGEST_LINE = 4096
FILE = "lease-events"
MOST_BYTES = 2**20
"""A longer file is put aside and read to its end; a new one begins."""


@dataclass(frozen=True, slots=True)
class LeaseEvent:
    """`over`: the lease has ended. `firmware`: iPXE, PXE or HTTP boot asked, so a host did and no BMC."""

    lease: Lease
    over: bool
    firmware: bool


def parse_event(line: str) -> LeaseEvent | None:
    """The event, or None for a line that says none: cut short, or written by somebody else."""
    fields = line.rstrip("\n").split("\t")
    if len(fields) != _FIELDS:
        return None
    action, mac, address, expires, remaining, _, vendor_class, user_class, _ = fields
    try:
        IPv4Address(address)
        until = datetime.fromtimestamp(int(expires), UTC) if int(expires or 0) else None
        left = timedelta(seconds=int(remaining or 0))
        at = until - left if until else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    firmware = vendor_class.startswith(("PXEClient", "HTTPClient")) or user_class == "iPXE"
    shown = f"{vendor_class} ({user_class})" if user_class else vendor_class
    return LeaseEvent(Lease(mac, address, at, until, shown), over=action == "del", firmware=firmware)


class Follower:
    """Reads what is appended; what was written before the daemon started is read again, and changes nothing."""

    def __init__(self, folder: Path) -> None:
        """The script writes `folder/lease-events`."""
        self._path, self._aside = folder / FILE, folder / f"{FILE}.aside"
        self._open: IO[bytes] | None = None
        self._part = b""

    def new_events(self) -> Iterator[LeaseEvent]:
        """Everything since the last call, in order."""
        if self._aside.exists():
            yield from self._rest_of_aside()
        yield from self._rest()
        if self._open is not None and self._open.tell() > MOST_BYTES:
            self._path.replace(self._aside)  # the script may still write the line that it has begun

    def close(self) -> None:
        """Forget the place."""
        if self._open is not None:
            self._open.close()
        self._open, self._part = None, b""

    def _rest_of_aside(self) -> Iterator[LeaseEvent]:
        if self._open is None:
            self._open = self._aside.open("rb")
        yield from self._rest()
        self.close()
        self._aside.unlink()

    def _rest(self) -> Iterator[LeaseEvent]:
        if self._open is None:
            try:
                self._open = self._path.open("rb")
            except FileNotFoundError:
                return
        while block := self._open.read(2**16):
            *lines, self._part = (self._part + block).split(b"\n")
            self._part = self._part[-_LONGEST_LINE:]
            for line in lines:
                event = parse_event(line.decode("ascii", "replace"))
                if event is not None:
                    yield event


def prepare(folder: Path) -> None:
    """The file is there, and only its owner reads it."""
    os.close(os.open(folder / FILE, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600))
