"""What a check says."""

from collections.abc import Callable
from typing import NamedTuple

Progress = Callable[[float], None]
"""Takes the percentage done; called often."""


class Verdict(NamedTuple):
    """`status`: pass, fail (the hardware gave a wrong answer) or error (the check could not be made)."""

    status: str
    metrics: dict[str, float]
    evidence: str


Check = Callable[[dict[str, float], Progress], Verdict]
