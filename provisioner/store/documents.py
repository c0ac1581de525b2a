"""The last inventory and the progress of each node, and the releases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from pydantic import TypeAdapter
from sqlalchemy import Column, Connection, Double, Index, Named, Table, Text, TypedColumns, select

from profiles.release import Release
from provisioner.errors import NotFound
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.inventory import FirmwareComponent, FirmwareSighting, Inventory
from provisioner.models.operation import Progress
from provisioner.store.columns import UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.inserts import insert_if_new, upsert
from provisioner.store.metadata import METADATA
from provisioner.store.node_macs import replace_macs


@dataclass(frozen=True, slots=True)
class _FirmwareAlone:
    """What is read of an inventory where only its firmware counts."""

    firmware: tuple[FirmwareComponent, ...]


_INVENTORY: TypeAdapter[Inventory] = TypeAdapter(Inventory)
_FIRMWARE: TypeAdapter[_FirmwareAlone] = TypeAdapter(_FirmwareAlone)
_BATCH = 500


class InventoryColumns(TypedColumns):
    """The last sweep of each node, as JSON."""

    node: Named[str] = node_column(primary_key=True)
    at: Named[datetime] = Column(UtcDateTime)
    document: Named[str] = Column(Text)


class ProgressColumns(TypedColumns):
    """What each node was doing last."""

    node: Named[str] = node_column(primary_key=True)
    operation: Named[str] = Column(Text)
    doing: Named[str] = Column(Text)
    percent: Named[float | None] = Column(Double)
    since: Named[datetime] = Column(UtcDateTime)


class ReleaseColumns(TypedColumns):
    """Releases by content, as JSON. `made_at`, `made_by`: null where the site's configuration brought it."""

    digest: Named[str] = Column(Text, primary_key=True)
    document: Named[str] = Column(Text)
    name: Named[str] = Column(Text)
    hardware_class: Named[str] = Column(Text)
    made_at: Named[datetime | None] = Column(UtcDateTime)
    made_by: Named[str | None] = Column(Text)


INVENTORIES = Table("inventories", METADATA, InventoryColumns)
PROGRESS = Table("progress", METADATA, ProgressColumns)
RELEASES = Table("releases", METADATA, ReleaseColumns, Index(None, "made_at"))


_NEWS_PERCENT = 5.0
_NEWS_AFTER = timedelta(seconds=30)


class SqlDocuments:
    """`Documents` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database
        self._releases: dict[ReleaseDigest, Release] = {}
        self._told: dict[NodeName, Progress] = {}

    async def put_inventory(self, node: NodeName, inventory: Inventory, at: datetime) -> None:
        """Replace the node's inventory. Raises `NotFound`."""
        values = {"node": node, "at": at, "document": _INVENTORY.dump_json(inventory).decode()}
        await self._database.write(partial(_put_inventory, values=values, macs=inventory.macs))

    async def inventory(self, node: NodeName) -> Inventory:
        """The last one. Raises `NotFound` before the first sweep."""
        query = select(INVENTORIES.c.document).where(INVENTORIES.c.node == node)
        document = await self._database.read_row(lambda connection: connection.scalar(query))
        if document is None:
            raise NotFound(f"{node} has no inventory yet")
        return _INVENTORY.validate_json(document)

    async def firmware(self, nodes: Sequence[NodeName]) -> Sequence[FirmwareSighting]:
        """The firmware in the last inventory of each of these nodes; those without one are left out."""
        return await self._database.read(partial(_firmware, nodes=nodes))

    async def put_progress(self, progress: Progress) -> None:
        """Say what the node is doing; what people would not see as news is not written. Raises `NotFound`."""
        if _is_no_news(progress, self._told.get(progress.node)):
            return
        values = {
            "node": progress.node,
            "operation": progress.operation,
            "doing": progress.doing,
            "percent": progress.percent,
            "since": progress.since,
        }
        await self._database.write(partial(upsert, table=PROGRESS, values=values))
        self._told[progress.node] = progress

    async def progress(self, nodes: Sequence[NodeName] | None = None) -> Sequence[Progress]:
        """What every node was doing last, by name; or these."""
        columns = PROGRESS.c
        query = select(columns.node, columns.operation, columns.doing, columns.percent, columns.since)
        if nodes is not None:
            query = query.where(columns.node.in_(nodes))
        rows = await self._database.read(lambda connection: connection.execute(query.order_by(columns.node)).all())
        return [Progress(NodeName(row[0]), *row[1:]) for row in rows]

    async def put_release(self, release: Release) -> None:
        """Keep a release under its digest; the first one with a digest stays."""
        await self._database.write(partial(insert_if_new, table=RELEASES, values=release_values(release)))

    async def release(self, digest: ReleaseDigest) -> Release:
        """Raises `NotFound`. What a digest names never changes, so it is read once."""
        if digest not in self._releases:
            query = select(RELEASES.c.document).where(RELEASES.c.digest == digest)
            document = await self._database.read_row(lambda connection: connection.scalar(query))
            if document is None:
                raise NotFound(f"no release has the digest {digest}")
            self._releases[digest] = Release.model_validate_json(document)
        return self._releases[digest]


def release_values(release: Release) -> dict[str, object]:
    """The row of a release that nobody has made."""
    return {
        "digest": release.digest,
        "document": release.model_dump_json(),
        "name": release.name,
        "hardware_class": release.hardware_class.name,
    }


def _firmware(connection: Connection, *, nodes: Sequence[NodeName]) -> list[FirmwareSighting]:
    """A part of the documents at a time: SQLite takes no more than 32,766 values in one statement."""
    columns = INVENTORIES.c
    found: list[FirmwareSighting] = []
    for start in range(0, len(nodes), _BATCH):
        query = select(columns.node, columns.at, columns.document)
        rows = connection.execute(query.where(columns.node.in_(nodes[start : start + _BATCH])))
        found += [FirmwareSighting(NodeName(row[0]), row[1], _FIRMWARE.validate_json(row[2]).firmware) for row in rows]
    return found


def _put_inventory(connection: Connection, *, values: Mapping[str, object], macs: Sequence[str]) -> None:
    upsert(connection, table=INVENTORIES, values=values)
    replace_macs(connection, node=NodeName(str(values["node"])), macs=macs)


def _is_no_news(progress: Progress, told: Progress | None) -> bool:
    """The same words within half a minute, and at most five percent more."""
    if told is None or (told.operation, told.doing) != (progress.operation, progress.doing):
        return False
    moved = abs((progress.percent or 0.0) - (told.percent or 0.0))
    return moved < _NEWS_PERCENT and progress.since - told.since < _NEWS_AFTER
