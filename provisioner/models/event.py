"""What happened to a node, in the order in which it happened."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State


class EventKind(StrEnum):
    """What sort of thing an event tells."""

    DISCOVERED = "discovered"
    TRANSITION = "transition"
    RETRY = "retry"
    OBSERVED = "observed"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a node's history. `id` grows by time within a site."""

    id: int
    at: datetime
    node: NodeName
    kind: EventKind
    reason: str
    from_state: State | None = None
    to_state: State | None = None
