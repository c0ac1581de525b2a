"""Everything else that is remembered, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from profiles.release import Release
from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.burn_in import BurnInRun, CheckResult, Heartbeat
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.inventory import FirmwareSighting, Inventory
from provisioner.models.operation import Progress
from provisioner.models.secret import Credentials, Secret


@dataclass(slots=True)
class MemoryDocuments:
    """`Documents`."""

    inventories: dict[NodeName, Inventory] = field(default_factory=dict)
    doing: dict[NodeName, Progress] = field(default_factory=dict)
    releases: dict[str, Release] = field(default_factory=dict)

    read: dict[NodeName, datetime] = field(default_factory=dict)

    async def put_inventory(self, node: NodeName, inventory: Inventory, at: datetime) -> None:
        """Replace it."""
        self.inventories[node], self.read[node] = inventory, at

    async def inventory(self, node: NodeName) -> Inventory:
        """Raises `NotFound`."""
        if node not in self.inventories:
            raise NotFound(f"{node} has no inventory yet")
        return self.inventories[node]

    async def firmware(self, nodes: Sequence[NodeName]) -> Sequence[FirmwareSighting]:
        """Of those that have been read."""
        return [
            FirmwareSighting(one, self.read[one], self.inventories[one].firmware) for one in nodes if one in self.read
        ]

    async def put_progress(self, progress: Progress) -> None:
        """What it does."""
        self.doing[progress.node] = progress

    async def progress(self, nodes: Sequence[NodeName] | None = None) -> Sequence[Progress]:
        """Of every node, or these."""
        return [one for one in self.doing.values() if nodes is None or one.node in nodes]

    async def put_release(self, release: Release) -> None:
        """Keep it."""
        self.releases.setdefault(release.digest, release)

    async def release(self, digest: ReleaseDigest) -> Release:
        """Raises `NotFound`."""
        if digest not in self.releases:
            raise NotFound(f"no release has the digest {digest}")
        return self.releases[digest]


@dataclass(slots=True)
class _Drawer:
    factory: Credentials | None = None
    current: Credentials | None = None
    proposed: Credentials | None = None
    sending: bool = False


@dataclass(slots=True)
class MemoryVault:
    """`Vault`. Every proposal is another password, so that a lost one shows."""

    drawers: dict[NodeName, _Drawer] = field(default_factory=dict)
    made: int = 0
    audit: list[AuditEntry] = field(default_factory=list)

    def known(self, node: NodeName) -> list[Credentials]:
        """Every password that we could still log in with."""
        drawer = self.drawers[node]
        return [one for one in (drawer.factory, drawer.current, drawer.proposed) if one is not None]

    async def current(self, node: NodeName) -> Credentials | None:
        """Ours, else the factory's."""
        drawer = self.drawers.get(node, _Drawer())
        return drawer.current or drawer.factory

    async def is_ours(self, node: NodeName) -> bool:
        """The password in force is ours."""
        return self.drawers.get(node, _Drawer()).current is not None

    async def put_factory(self, node: NodeName, credentials: Credentials) -> None:
        """What the label says."""
        self.drawers.setdefault(node, _Drawer()).factory = credentials

    async def put_kept(self, node: NodeName, credentials: Credentials) -> None:
        """What stays."""
        self.drawers[node] = _Drawer(factory=credentials, current=credentials)

    async def replace(self, node: NodeName, credentials: Credentials, *, audit: AuditEntry | None = None) -> None:
        """What a person says."""
        self.audit += [audit] if audit is not None else []
        self.drawers[node] = _Drawer(factory=credentials)

    async def propose(self, node: NodeName) -> tuple[Credentials, bool]:
        """The same until `confirm`."""
        drawer = self.drawers.get(node, _Drawer())
        known = drawer.current or drawer.factory
        if drawer.proposed is None:
            if known is None:
                raise NotFound(f"{node}: no BMC credentials are known")
            self.made += 1
            drawer.proposed, drawer.sending = Credentials(known.username, Secret(f"Our-passw0rd-{self.made}")), False
        return drawer.proposed, drawer.sending

    async def sending(self, node: NodeName) -> None:
        """It may be on its way."""
        if self.drawers[node].proposed is None:
            raise Conflict(f"{node}: no password is proposed")
        self.drawers[node].sending = True

    async def confirm(self, node: NodeName) -> None:
        """It works."""
        drawer = self.drawers[node]
        if drawer.proposed is not None:
            drawer.current, drawer.proposed, drawer.sending = drawer.proposed, None, False
        elif drawer.current is None:
            raise Conflict(f"{node}: no password is proposed")


@dataclass(slots=True)
class MemoryBurnIns:
    """`BurnIns`."""

    runs: dict[str, BurnInRun] = field(default_factory=dict)
    kept: dict[tuple[str, int, str], CheckResult] = field(default_factory=dict)
    beats: dict[NodeName, Heartbeat] = field(default_factory=dict)

    async def open(self, run: BurnInRun) -> BurnInRun:
        """The one that is there, or this one."""
        return self.runs.setdefault(run.run, run)

    async def latest(self, node: NodeName) -> BurnInRun | None:
        """Opened last."""
        return next((run for run in reversed(self.runs.values()) if run.node == node), None)

    async def results(self, run: str) -> Sequence[CheckResult]:
        """Oldest first."""
        return [result for result in self.kept.values() if result.run == run]

    async def record(self, result: CheckResult) -> bool:
        """The first one stays."""
        key = (result.run, result.attempt, result.item)
        return key not in self.kept and self.kept.setdefault(key, result) is result

    async def beat(self, heartbeat: Heartbeat) -> None:
        """The last one."""
        self.beats[heartbeat.node] = heartbeat

    async def heartbeat(self, node: NodeName) -> Heartbeat | None:
        """The last one."""
        return self.beats.get(node)


@dataclass(slots=True)
class MemoryLogins:
    """`LoginFailures`."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    async def count(self, bmc: str, username: str) -> int:
        """In a row."""
        return self.counts.get((bmc, username), 0)

    async def record(self, bmc: str, username: str, at: datetime) -> int:  # noqa: ARG002  as the protocol
        """One more."""
        self.counts[bmc, username] = self.counts.get((bmc, username), 0) + 1
        return self.counts[bmc, username]

    async def clear(self, bmc: str, username: str) -> None:
        """None any more."""
        self.counts.pop((bmc, username), None)


class MemoryCertificates:
    """`PinnedCertificates`: nobody shows another one here."""

    async def pinned(self, bmc: str) -> str | None:  # noqa: ARG002  as the protocol
        """None."""
        return None

    async def pin(self, bmc: str, fingerprint: str) -> None:
        """Nothing to do."""

    async def forget(self, bmc: str, *, audit: AuditEntry | None = None) -> None:
        """Nothing to do."""
