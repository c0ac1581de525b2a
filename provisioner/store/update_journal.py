"""What was sent to flash. A row is there from the intent until the running version is seen."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Named, Table, Text, TypedColumns, delete, select, update

from provisioner.errors import NotFound
from provisioner.models.identifiers import NodeName, TaskUri
from provisioner.store.columns import UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.inserts import insert_if_new
from provisioner.store.metadata import METADATA


class UpdateColumns(TypedColumns):
    """One row per update that is under way."""

    node: Named[str] = node_column(primary_key=True)
    component: Named[str] = Column(Text, primary_key=True)
    version: Named[str] = Column(Text, primary_key=True)
    intended_at: Named[datetime] = Column(UtcDateTime)
    task: Named[str | None] = Column(Text)


UPDATES = Table("updates", METADATA, UpdateColumns)


class SqlUpdateJournal:
    """`UpdateJournal` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def intend(self, node: NodeName, component: str, version: str, at: datetime) -> datetime:
        """Written before an update is sent; the time of the first intent. Raises `NotFound`."""
        values = {"node": node, "component": component, "version": version, "intended_at": at}
        return await self._database.write(partial(_intend, values=values))

    async def started(self, node: NodeName, component: str, version: str, task: TaskUri) -> None:
        """The task's URI, as soon as it is known. Raises `NotFound` when nothing was intended."""
        await self._database.write(partial(_start, which=_of(node, component, version), task=task))

    async def task(self, node: NodeName, component: str, version: str) -> TaskUri | None:
        """The URI that was kept, if any."""
        query = select(UPDATES.c.task).where(_of(node, component, version))
        task = await self._database.read_row(lambda connection: connection.scalar(query))
        return None if task is None else TaskUri(task)

    async def intended(self, node: NodeName, component: str, version: str) -> datetime | None:
        """When it was first sent, or None if never."""
        query = select(UPDATES.c.intended_at).where(_of(node, component, version))
        return await self._database.read_row(lambda connection: connection.scalar(query))

    async def close(self, node: NodeName, component: str, version: str) -> None:
        """The running version was seen; again is nothing."""
        statement = delete(UPDATES).where(_of(node, component, version))
        await self._database.write(lambda connection: connection.execute(statement).rowcount)


def _of(node: NodeName, component: str, version: str) -> ColumnElement[bool]:
    return (UPDATES.c.node == node) & (UPDATES.c.component == component) & (UPDATES.c.version == version)


def _intend(connection: Connection, *, values: Mapping[str, Any]) -> datetime:
    others = [UPDATES.c[key] == values[key] for key in ("node", "component")]
    connection.execute(delete(UPDATES).where(*others, UPDATES.c.version != values["version"]))
    insert_if_new(connection, table=UPDATES, values=values)
    which = [UPDATES.c[key] == values[key] for key in ("node", "component", "version")]
    return connection.execute(select(UPDATES.c.intended_at).where(*which)).scalar_one()


def _start(connection: Connection, *, which: ColumnElement[bool], task: TaskUri) -> None:
    if connection.execute(update(UPDATES).where(which).values(task=task)).rowcount == 0:
        raise NotFound("an update's task was started that nobody had intended")
