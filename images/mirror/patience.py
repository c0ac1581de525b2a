"""How long a mirror may take before another one is asked."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Patience:
    """`rounds`: how often all mirrors are asked, with pauses that double. `silence`: without a byte.

    A mirror that gives less than `slowest_bytes_per_second` over `window` counts as broken off.
    """

    rounds: int = 4
    pause: timedelta = timedelta(seconds=1)
    connect: timedelta = timedelta(seconds=10)
    silence: timedelta = timedelta(seconds=30)
    slowest_bytes_per_second: int = 4096
    window: timedelta = timedelta(seconds=30)
    at_once: int = 4


USUAL = Patience()
