"""How much a soak grows. Pure: clocks are read elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.promotion.policy import Policy

LONGEST = timedelta(minutes=2)
"""What one look counts at most, whatever any clock says."""

_IN_SERVICE = frozenset({State.READY, State.IN_PRODUCTION})


@dataclass(frozen=True, slots=True)
class Soak:
    """What nodes have run of a release so far."""

    hours: float = 0.0
    node_hours: float = 0.0
    domains: int = 0
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Sighting:
    """A node that was seen in service with a release, and the failure domain that it stands in: its rack."""

    release: ReleaseDigest
    node: NodeName
    domain: str


def grown(last: datetime | None, now: datetime, passed: timedelta) -> timedelta:
    """What to count since the `last` look of anybody.

    `passed`: what went by on the monotonic clock of this worker since its own last look. The smaller of the two counts,
    and no more than `LONGEST`: a wall clock that jumps ends no soak early, and nobody's silence counts as good.
    """
    if last is None:
        return timedelta(0)
    return max(timedelta(0), min(now - last, passed, LONGEST))


def seen_running(node: Node, image: str) -> Sighting | None:
    """The node is in service with its release, whose `image` its agent has reported; None: it is not."""
    if node.release is None or node.observed_image != image or node.state not in _IN_SERVICE:
        return None
    return Sighting(node.release, node.name, node.rack)


def is_enough(soak: Soak, policies: Sequence[Policy]) -> bool:
    """No channel asks for more: it need not be counted any longer."""
    return all(
        soak.hours >= one.soak.hours and soak.node_hours >= one.soak.node_hours and soak.domains >= one.soak.domains
        for one in policies
    )
