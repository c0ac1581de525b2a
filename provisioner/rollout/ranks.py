"""The Mann-Whitney U test by its normal approximation, corrected for ties and for continuity; and its effect size."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Ranks:
    """How one sample lies to another."""

    u: float
    """Pairs in which the first sample's value is the higher one; a tie is half a pair."""
    greater: float
    """p of the first sample being higher by chance (one-sided)."""
    two_sided: float
    effect: float
    """Rank-biserial correlation, which is Cliff's delta: 1 where all of the first are higher, 0 where none lean."""


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> Ranks:
    """Compare two samples. Raises ValueError where one is empty."""
    if not first or not second:
        raise ValueError("both samples need at least one value")
    pairs = len(first) * len(second)
    rank_sum, tie_sum = _rank_sum(first, second)
    u = rank_sum - len(first) * (len(first) + 1) / 2
    both = len(first) + len(second)
    deviation = sqrt(pairs / 12 * (both + 1 - tie_sum / (both * (both - 1))))
    return Ranks(
        u=u,
        greater=_above(u - pairs / 2 - 0.5, deviation),
        two_sided=min(1.0, 2 * _above(abs(u - pairs / 2) - 0.5, deviation)),
        effect=2 * u / pairs - 1,
    )


def _rank_sum(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Sum of the first sample's ranks among both, and the sum of t^3 - t over groups of t equal values."""
    both = sorted([(value, True) for value in first] + [(value, False) for value in second])
    rank_sum = tie_sum = 0.0
    before = 0
    for _, equals in groupby(both, key=lambda pair: pair[0]):
        group = [is_first for _, is_first in equals]
        rank_sum += sum(group) * (before + (len(group) + 1) / 2)
        tie_sum += len(group) ** 3 - len(group)
        before += len(group)
    return rank_sum, tie_sum


def _above(distance: float, deviation: float) -> float:
    """Where every value is equal there is no deviation, and nothing is unlikely."""
    return 1 - NormalDist().cdf(distance / deviation) if deviation else 1.0
