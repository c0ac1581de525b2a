"""Channels in SQL."""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update
from sqlalchemy import insert as plain_insert

from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement, Pointer
from provisioner.models.identifiers import ReleaseDigest
from provisioner.store.audit import write_audit
from provisioner.store.channel_tables import CHANNELS, MOVEMENTS
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database
from provisioner.store.inserts import insert_if_new

_AT = CHANNELS.c


class SqlChannels:
    """`Channels` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def current(self, channel: str, hardware_class: str) -> ReleaseDigest | None:
        """As the protocol says."""
        query = select(_AT.release).where(_AT.channel == channel, _AT.hardware_class == hardware_class)
        digest = await self._database.read_row(lambda connection: connection.scalar(query))
        return None if digest is None else ReleaseDigest(digest)

    async def pointers(self) -> Sequence[Pointer]:
        """As the protocol says."""
        query = select(CHANNELS).order_by(_AT.hardware_class, _AT.channel)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_pointer(row) for row in rows]

    async def pointer(self, channel: Channel, hardware_class: str) -> Pointer | None:
        """As the protocol says."""
        query = select(CHANNELS).where(_AT.channel == channel.value, _AT.hardware_class == hardware_class)
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        return None if row is None else _pointer(row)

    async def history(self, channel: Channel, hardware_class: str) -> Sequence[Movement]:
        """As the protocol says."""
        moves = MOVEMENTS.c
        ours = (moves.channel == channel.value, moves.hardware_class == hardware_class)
        query = select(MOVEMENTS).where(*ours).order_by(moves.revision)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_movement(row) for row in rows]

    async def roll_back(self, seen: Pointer, movement: Movement, *, audit: AuditEntry) -> bool:
        """As the protocol says."""

        def change(connection: Connection) -> bool:
            if not move(connection, (seen.channel, seen.hardware_class), movement):
                return False
            write_audit(connection, audit)
            return True

        return await self._database.write(change)


def move(connection: Connection, place: tuple[Channel, str], movement: Movement) -> bool:
    """Move the pointer of a channel and hardware class from the revision before `movement.revision`; False: it is not
    there any more.
    """
    channel, hardware_class = place
    key = {"channel": channel.value, "hardware_class": hardware_class}
    stands = {"release": movement.release, "since": movement.at, "who": movement.who, "revision": movement.revision}
    if movement.revision == 1:
        moved = insert_if_new(connection, table=CHANNELS, values={**key, **stands})
    else:
        ours = (_AT.channel == channel.value, _AT.hardware_class == hardware_class)
        as_seen = update(CHANNELS).where(*ours, _AT.revision == movement.revision - 1)
        moved = connection.execute(as_seen.values(**stands)).rowcount > 0
    if moved:
        row = {
            **key,
            "revision": movement.revision,
            "release": movement.release,
            "at": movement.at,
            "who": movement.who,
            "reason": movement.reason,
            "promotion": movement.promotion,
        }
        connection.execute(plain_insert(MOVEMENTS), [row])
    return moved


def _pointer(row: AnyRow) -> Pointer:
    return Pointer(
        channel=Channel(row.channel),
        hardware_class=row.hardware_class,
        release=ReleaseDigest(row.release),
        revision=row.revision,
        since=row.since,
        who=row.who,
    )


def _movement(row: AnyRow) -> Movement:
    return Movement(
        revision=row.revision,
        release=ReleaseDigest(row.release),
        at=row.at,
        who=row.who,
        reason=row.reason,
        promotion=row.promotion,
    )
