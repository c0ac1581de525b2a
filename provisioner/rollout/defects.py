"""What a canary of some size can see at all: with 95 %, at least one failure among its nodes."""

from math import ceil, log

CONFIDENCE = 0.95


def nodes_to_see(defect_rate: float) -> int:
    """How many nodes show at least one failure with 95 %, where this share of all nodes fails (0 < share < 1)."""
    return ceil(log(1 - CONFIDENCE) / log(1 - defect_rate))


def visible_defect(nodes: int) -> float:
    """The smallest share of failing nodes that this many nodes show with 95 %; 1.0 where there are none."""
    return 1.0 - (1 - CONFIDENCE) ** (1 / nodes) if nodes else 1.0
