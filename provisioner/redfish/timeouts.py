"""How long one exchange with a BMC may take, in real seconds: they bound our own I/O, not emulated hardware."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Worst answers measured on real BMCs took 23 s (mean 0.04 to 0.5 s)."""

    connect_seconds: float = 10.0
    read_seconds: float = 60.0
    """The whole answer to one request."""
    probe_seconds: float = 10.0
    """A look at the root of something that may be no BMC."""
    push_seconds: float = 1800.0
    """Sending one firmware package."""
