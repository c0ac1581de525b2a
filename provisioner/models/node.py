"""One server: what should be true of it and what was last seen."""

from dataclasses import dataclass
from datetime import datetime

from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.models.instruction import Hold
from provisioner.models.lifecycle import State


@dataclass(frozen=True, slots=True)
class BmcAddress:
    """Where a BMC answers."""

    host: str
    port: int = 443

    def __str__(self) -> str:
        """As in messages: `127.20.1.1:8443`."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Domains:
    """What a node shares with others, by name; None where the plan does not say. It goes down with its name's others.

    `tray`: one standby power. `chassis`: one box, with one set of cords. `power`: one feed that can be switched.
    """

    tray: str | None = None
    chassis: str | None = None
    power: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One row of the table of nodes. `generation` changes with what is desired, `attempt` with each new try."""

    name: NodeName
    rack: RackName
    position: int
    bmc: BmcAddress
    state: State
    state_since: datetime
    generation: int = 1
    attempt: int = 1
    failures: int = 0
    """Tries that failed one after another in this state; any success sets it back to 0."""
    retry_at: datetime | None = None
    """After a failed try: not before then."""
    expected_serial: str | None = None
    serial: str | None = None
    uuid: str | None = None
    manufacturer: str | None = None
    model: str | None = None
    hardware_class: str | None = None
    release: ReleaseDigest | None = None
    """What the node should run."""
    observed_image: str | None = None
    """The digest of the image that its agent reported last."""
    hold: Hold | None = None
    held_from: State | None = None
    """The state that a held node goes back to."""
    domains: Domains = Domains()

    @property
    def place(self) -> str:
        """Where a person finds it."""
        return f"rack {self.rack}, position {self.position} ({self.name})"


@dataclass(frozen=True, slots=True)
class ExpectedNode:
    """One line of the expected list: what the plan says is in the rack."""

    name: NodeName
    rack: RackName
    position: int
    bmc: BmcAddress
    serial: str | None = None
    domains: Domains = Domains()


Place = tuple[str, int, str]
"""Rack, position and name: the order of lists."""


@dataclass(frozen=True, slots=True)
class Which:
    """Which nodes; None: whatever it is."""

    state: State | None = None
    rack: str | None = None
    held: bool | None = None

    def fits(self, node: Node) -> bool:
        """All of it."""
        return (
            (self.state is None or node.state is self.state)
            and (self.rack is None or node.rack == self.rack)
            and (self.held is None or (node.hold is not None) is self.held)
        )
