"""A node's slots, and whose turn it is to change them."""

from dataclasses import dataclass
from datetime import datetime

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State


@dataclass(frozen=True, slots=True)
class Turn:
    """One node, as rollouts left it. A node that no rollout ever had has none, and runs what its row says."""

    node: NodeName
    holder: str | None = None
    """The rollout that has it now; nobody else moves it."""
    epoch: int = 0
    """Of the controller that changed it last: a lower one is refused."""
    effect: str = ""
    """What was done to it last, see `Intent.effect`."""
    came_from: State | None = None
    """Where it was when it was taken: a node in production goes back there."""
    cordoned: bool = False
    label: ReleaseDigest | None = None
    """The release that the scheduler was told."""
    active: ReleaseDigest | None = None
    """The slot that it boots from."""
    blue: ReleaseDigest | None = None
    """Where it goes back to."""
    green: ReleaseDigest | None = None


@dataclass(frozen=True, slots=True)
class Right:
    """To change a node: only while `rollout` has its turn, and nobody with a higher epoch has changed it."""

    rollout: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Booted:
    """The last boot that a node's agent has reported."""

    node: NodeName
    generation: int
    """Of the node when the boot was ordered: a boot of a later one is another boot."""
    image: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A release that came back from a hardware class, and is not offered to it again."""

    release: ReleaseDigest
    hardware_class: str
    rollout: str
    why: str
    at: datetime
