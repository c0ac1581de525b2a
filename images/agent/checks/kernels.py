"""Small computations with known answers, the same on every machine.

Floats use + - * and / only, which IEEE 754 defines to the last bit; each round feeds the next one, so that a single
wrong bit anywhere changes the answer.
"""

import hashlib
from collections.abc import Callable
from typing import NamedTuple

_MASK = 2**64 - 1
_PRIME = 2**521 - 1  # a Mersenne prime, so Fermat's little theorem gives the answer
_BLOCK = bytes(range(256)) * 64


class Kernel(NamedTuple):
    """`operations`: rounds of one computation, the unit of operations_per_second."""

    name: str
    compute: Callable[[], str]
    answer: str
    operations: int


def _integers() -> str:
    """xorshift64* (Vigna 2016, doi:10.1145/2845077)."""
    state, total = 0x9E3779B97F4A7C15, 0
    for _ in range(1000):
        state ^= state >> 12
        state ^= (state << 25) & _MASK
        state ^= state >> 27
        total = (total + state * 0x2545F4914F6CDD1D) & _MASK
    return f"{total:016x}"


def _floats() -> str:
    """The logistic map in its chaotic range, with a division in each round."""
    value = 0.3
    for _ in range(1000):
        value = 3.99 * value * (1.0 - value)
        value = (value * 3.0) / 3.0
    return value.hex()


def _big_integers() -> str:
    return f"{pow(3, _PRIME - 1, _PRIME):x}"


def _digests() -> str:
    return hashlib.sha256(_BLOCK).hexdigest()


KERNELS = (
    Kernel("integers", _integers, "86f3cb4b9bebcfbe", 1000),
    Kernel("floats", _floats, "0x1.9e08410a300ccp-1", 1000),
    Kernel("big integers", _big_integers, "1", 521),
    Kernel("digests", _digests, "a1f259d4365ed4320c377ce26f5c8c56dcdc9a89e7b641bfd8eabfbbeac86654", 256),
)
