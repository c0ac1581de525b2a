"""What we remember: nodes, events, secrets, boots, burn-in. One Protocol per concern, each with its own table."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from profiles.release import Release
from provisioner.models.audit import AuditEntry
from provisioner.models.boot import Asker, BootFailure, BootTicket
from provisioner.models.burn_in import BurnInRun, CheckResult, Heartbeat
from provisioner.models.event import Event
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.instruction import Hold
from provisioner.models.inventory import FirmwareSighting, Identity, Inventory
from provisioner.models.lifecycle import State
from provisioner.models.node import ExpectedNode, Node, Place, Which
from provisioner.models.operation import Progress
from provisioner.models.secret import Credentials, Secret
from provisioner.models.turn import Right


class Nodes(Protocol):
    """The table of nodes. What changes a state writes the event in the same transaction, and `audit` if it is given."""

    async def get(self, name: NodeName) -> Node:
        """Raises `NotFound`."""
        ...

    async def all(self) -> Sequence[Node]:
        """Every node, by rack and position."""
        ...

    async def page(self, which: Which, after: Place | None, limit: int) -> Sequence[Node]:
        """At most `limit` of those that fit, by rack, position and name, behind the place `after`."""
        ...

    async def active(self) -> Sequence[Node]:
        """The nodes that may need something: not ready, in production, in maintenance or gone; held ones are here."""
        ...

    async def counts(self) -> Mapping[State, int]:
        """How many nodes are in each state; every state is there."""
        ...

    async def expect(self, nodes: Sequence[ExpectedNode], at: datetime) -> int:
        """Add what is new in the expected list, keep what is known; how many were added.

        Domains are as the list says, of known nodes too: nobody else can tell them.
        """
        ...

    async def advance(
        self,
        seen: Node,
        to: State,
        reason: str,
        at: datetime,
        *,
        audit: AuditEntry | None = None,
        right: Right | None = None,
    ) -> bool:
        """Move from the state that `seen` was in, out of a hold too; False when somebody moved it first.

        `right`, here and below: only while it stands; refused as when somebody was faster.

        Failures go back to 0. The attempt never falls within a generation and grows when `to` was visited in it
        already: no (state, generation, attempt) comes twice once it was left, and so no operation id does.
        """
        ...

    async def hold(self, seen: Node, hold: Hold, *, audit: AuditEntry | None = None) -> bool:
        """Hold it where it is, or change why it is held; False when it has moved since it was seen."""
        ...

    async def let_go(
        self, seen: Node, reason: str, at: datetime, *, audit: AuditEntry | None = None, right: Right | None = None
    ) -> bool:
        """End the hold: back to the state it was held from, with a new attempt; False when it is not held so."""
        ...

    async def failed(self, seen: Node, reason: str, at: datetime, retry_at: datetime) -> bool:
        """One try failed: a new attempt, not before `retry_at`."""
        ...

    async def desire(
        self,
        name: NodeName,
        release: ReleaseDigest,
        reason: str,
        at: datetime,
        *,
        seen: Node | None = None,
        audit: AuditEntry | None = None,
        right: Right | None = None,
    ) -> int:
        """Want a release: the new generation, at attempt 1, back in `inventoried` if the node was past it.

        A hold stays and ends there. Raises `NotFound`, and `Conflict` for a node that is on its way out, or has moved
        since it was `seen`.
        """
        ...

    async def identify(self, name: NodeName, identity: Identity) -> Sequence[NodeName]:
        """Record who it is; the other nodes that say the same serial or UUID (in one transaction).

        Case and spaces around do not matter, and an empty string is nobody's.
        """
        ...

    async def assign(self, name: NodeName, hardware_class: str, release: ReleaseDigest) -> None:
        """Record its hardware class and the release that it should run."""
        ...

    async def observe_image(self, name: NodeName, image: str, at: datetime) -> None:
        """Record the digest that its agent reported."""
        ...

    async def tell(self, name: NodeName, what: str, at: datetime) -> None:
        """Write what was seen into its history, unless that is the last entry already."""
        ...


class Events(Protocol):
    """The history."""

    async def of(self, node: NodeName, limit: int = 200) -> Sequence[Event]:
        """The last events of one node, oldest first."""
        ...

    async def after(self, last_id: int, limit: int = 500) -> Sequence[Event]:
        """Events with a greater id, oldest first."""
        ...


class Documents(Protocol):
    """The last inventory and the progress of each node, and the releases."""

    async def put_inventory(self, node: NodeName, inventory: Inventory, at: datetime) -> None:
        """Replace the node's inventory."""
        ...

    async def inventory(self, node: NodeName) -> Inventory:
        """The last one. Raises `NotFound` before the first sweep."""
        ...

    async def firmware(self, nodes: Sequence[NodeName]) -> Sequence[FirmwareSighting]:
        """The firmware in the last inventory of each of these nodes; those without one are left out."""
        ...

    async def put_progress(self, progress: Progress) -> None:
        """Say what the node is doing."""
        ...

    async def progress(self, nodes: Sequence[NodeName] | None = None) -> Sequence[Progress]:
        """What every node was doing last; or these."""
        ...

    async def put_release(self, release: Release) -> None:
        """Keep a release under its digest."""
        ...

    async def release(self, digest: ReleaseDigest) -> Release:
        """Raises `NotFound`."""
        ...


class Vault(Protocol):
    """BMC credentials, encrypted at rest."""

    async def current(self, node: NodeName) -> Credentials | None:
        """What works now: ours, else the factory's; None when nobody gave any."""
        ...

    async def is_ours(self, node: NodeName) -> bool:
        """The password in force is the one that stays: generated by us, or managed elsewhere."""
        ...

    async def put_factory(self, node: NodeName, credentials: Credentials) -> None:
        """Keep what the label says; never replaces a password of ours."""
        ...

    async def put_kept(self, node: NodeName, credentials: Credentials) -> None:
        """Keep credentials that are managed elsewhere: they are in force, and are never changed."""
        ...

    async def replace(self, node: NodeName, credentials: Credentials, *, audit: AuditEntry | None = None) -> None:
        """A person says that these work now: a password of ours is no longer believed in. Raises `NotFound`.

        `audit` is written in the same transaction.
        """
        ...

    async def propose(self, node: NodeName) -> tuple[Credentials, bool]:
        """A generated password to change to, the same on every call until `confirm`; True when an earlier run may
        already have sent it to the BMC.
        """
        ...

    async def sending(self, node: NodeName) -> None:
        """Written before the proposed password goes to the BMC, so that a crash cannot lose it."""
        ...

    async def confirm(self, node: NodeName) -> None:
        """The proposed password works: it is the current one now."""
        ...


class BootAskers(Protocol):
    """Who asks what to boot? One look each, by an index: a whole hall may ask at once."""

    async def by_key(self, key: Secret) -> Asker | None:
        """The node whose boot has this key, an old one too."""
        ...

    async def by_identity(self, serial: str, uuid: str) -> Asker | None:
        """The one node that says both of itself; None when there is none, or more than one.

        Case and spaces around do not matter, nor which way round a UUID's first three fields are kept.
        """
        ...

    async def by_port(self, mac: str) -> Asker | None:
        """The one node with this port in its last inventory; None when there is none, or more than one."""
        ...


class Boots(Protocol):
    """Boot tickets."""

    @property
    def askers(self) -> BootAskers:
        """Who asks for them."""
        ...

    async def open(self, ticket: BootTicket) -> BootTicket:
        """Keep a new ticket, or the one that is there for the same node, generation and attempt."""
        ...

    async def latest(self, node: NodeName) -> BootTicket | None:
        """The newest ticket of a node."""
        ...

    async def by_token(self, token: Secret) -> BootTicket | None:
        """The ticket with this agent token."""
        ...

    async def served(self, ticket: BootTicket, *, program: bool = False) -> None:
        """Count one answer of the boot endpoint; `program`: it was the program for UEFI."""
        ...

    async def asked(self, ticket: BootTicket) -> None:
        """Count an initrd that asked for its words."""
        ...

    async def allow(self, ticket: BootTicket, most_served: int) -> BootTicket:
        """It may be served so often, or more often if that was allowed before."""
        ...

    async def refused(self, ticket: BootTicket, target: str) -> None:
        """The BMC refused this boot target; again is nothing."""
        ...

    async def failed(self, ticket: BootTicket, failure: BootFailure) -> None:
        """An initrd reports why it gave up; another report of the same boot is nothing."""
        ...

    async def registered(self, ticket: BootTicket, boot_id: str, image: str, root: str, at: datetime) -> BootTicket:
        """The agent reports. Raises `Conflict` when another boot has used the token."""
        ...


class BurnIns(Protocol):
    """Runs, results and signs of life."""

    async def open(self, run: BurnInRun) -> BurnInRun:
        """Keep a new run, or the one that has the same id."""
        ...

    async def latest(self, node: NodeName) -> BurnInRun | None:
        """The newest run of a node."""
        ...

    async def results(self, run: str) -> Sequence[CheckResult]:
        """What came in, oldest first."""
        ...

    async def record(self, result: CheckResult) -> bool:
        """Keep a result; False when the same (run, attempt, item) is there already."""
        ...

    async def beat(self, heartbeat: Heartbeat) -> None:
        """Keep the last sign of life."""
        ...

    async def heartbeat(self, node: NodeName) -> Heartbeat | None:
        """The last sign of life of a node's agent."""
        ...
