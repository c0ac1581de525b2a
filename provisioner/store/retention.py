"""What is thrown away."""

from datetime import datetime
from functools import partial

from sqlalchemy import Connection, delete, select

from provisioner.store.database import Database
from provisioner.store.events import EVENTS


async def delete_events(database: Database, before: datetime, batch: int = 1000) -> int:
    """Delete the events that are older than `before`; how many. One short transaction per `batch`, oldest first."""
    deleted = 0
    while True:
        count = await database.write(partial(_delete_batch, before=before, batch=batch))
        deleted += count
        if count < batch:
            return deleted


def _delete_batch(connection: Connection, *, before: datetime, batch: int) -> int:
    oldest = select(EVENTS.c.id).where(EVENTS.c.at < before).order_by(EVENTS.c.at).limit(batch)
    return connection.execute(delete(EVENTS).where(EVENTS.c.id.in_(oldest))).rowcount
