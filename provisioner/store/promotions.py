"""Promotions in SQL."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pydantic import TypeAdapter
from sqlalchemy import Connection, and_, or_, select, update
from sqlalchemy import insert as plain_insert

from provisioner.capabilities.promotions import PromotionQuery
from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Movement
from provisioner.models.promotion import Promotion, PromotionLine, PromotionState
from provisioner.promotion import people
from provisioner.store.audit import write_audit, write_audit_if_given
from provisioner.store.channels import move
from provisioner.store.database import Database
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.promotion_tables import PROMOTION_LINES, PROMOTIONS

_DOCUMENT: TypeAdapter[Promotion] = TypeAdapter(Promotion)
_C = PROMOTIONS.c
_DECIDED = (PromotionState.APPLIED.value, PromotionState.REJECTED.value)


class _Moved(Exception):
    """The pointer is elsewhere: nothing of the transaction stays."""


class SqlPromotions:
    """`Promotions` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def request(self, asked: Promotion, *, audit: AuditEntry) -> Promotion:
        """As the protocol says."""
        return await self._database.write(partial(_request, asked=asked, audit=audit))

    async def get(self, promotion: str) -> Promotion:
        """Raises `NotFound`."""
        query = select(_C.document).where(_C.id == promotion)
        document = await self._database.read_row(lambda connection: connection.scalar(query))
        if document is None:
            raise NotFound(f"there is no promotion {promotion}")
        return _DOCUMENT.validate_json(document)

    async def page(self, query: PromotionQuery, after: str | None, limit: int) -> Sequence[Promotion]:
        """As the protocol says."""
        return await self._database.read(partial(_page, query=query, after=after, limit=limit))

    async def unended(self) -> Sequence[str]:
        """As the protocol says."""
        query = select(_C.id).where(_C.ended_at.is_(None)).order_by(_C.requested_at, _C.id)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def undecided(self, limit: int = 100) -> Sequence[Promotion]:
        """As the protocol says."""
        query = select(_C.document).where(_C.state.in_(_DECIDED), _C.decision.is_(None))
        ordered = query.order_by(_C.ended_at, _C.id).limit(limit)
        rows = await self._database.read(lambda connection: list(connection.scalars(ordered)))
        return [_DOCUMENT.validate_json(row) for row in rows]

    async def history(self, promotion: str) -> Sequence[PromotionLine]:
        """Oldest first."""
        lines = PROMOTION_LINES.c
        query = select(lines.at, lines.what).where(lines.promotion == promotion).order_by(lines.id)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [PromotionLine(row.at, row.what) for row in rows]

    async def keep(
        self, seen: Promotion, now: Promotion, line: PromotionLine | None, *, audit: AuditEntry | None = None
    ) -> bool:
        """As the protocol says."""

        def change(connection: Connection) -> bool:
            if not _replace(connection, seen, now):
                return False
            if line is not None:
                _tell(connection, seen.id, line)
            write_audit_if_given(connection, audit)
            return True

        return await self._database.write(change)

    async def apply(self, seen: Promotion, now: Promotion, movement: Movement, *, audit: AuditEntry) -> bool:
        """As the protocol says."""

        def change(connection: Connection) -> bool:
            if not _replace(connection, seen, now):
                return False
            if not move(connection, (now.channel, now.hardware_class), movement):
                raise _Moved
            _tell(connection, seen.id, PromotionLine(movement.at, f"applied: {now.channel} stands at {now.release}"))
            write_audit(connection, audit)
            return True

        try:
            return await self._database.write(change)
        except (_Moved, Conflict):
            return False


def _request(connection: Connection, *, asked: Promotion, audit: AuditEntry) -> Promotion:
    """One at a time is requested, so that of two the second one sees the first; and nobody applies it meanwhile."""
    hold_lock(connection, Lock.PROMOTION)
    same_place = (_C.channel == asked.channel.value, _C.hardware_class == asked.hardware_class, _C.ended_at.is_(None))
    document = connection.scalar(select(_C.document).where(*same_place).with_for_update())
    there = None if document is None else _DOCUMENT.validate_json(document)
    ended, opened = people.request(there, asked)
    if opened is not asked:
        return opened
    if there is not None and ended is not None:
        if not _replace(connection, there, ended):
            raise Conflict(f"{there.id} is changing this moment: request it again")
        _tell(connection, there.id, PromotionLine(asked.requested_at, f"superseded: {ended.why}"))
    connection.execute(plain_insert(PROMOTIONS), [{"id": asked.id, **_values(asked)}])
    _tell(connection, asked.id, PromotionLine(asked.requested_at, f"requested by {asked.requester}"))
    write_audit(connection, audit)
    return asked


def _replace(connection: Connection, seen: Promotion, now: Promotion) -> bool:
    as_seen = update(PROMOTIONS).where(_C.id == seen.id, _C.revision == seen.revision)
    after = replace(now, revision=seen.revision + 1)
    return connection.execute(as_seen.values(**_values(after))).rowcount > 0


def _tell(connection: Connection, promotion: str, line: PromotionLine) -> None:
    connection.execute(plain_insert(PROMOTION_LINES), [{"promotion": promotion, "at": line.at, "what": line.what}])


def _values(promotion: Promotion) -> dict[str, object]:
    return {
        "channel": promotion.channel.value,
        "hardware_class": promotion.hardware_class,
        "release": promotion.release,
        "state": promotion.state.value,
        "requested_at": promotion.requested_at,
        "ended_at": promotion.ended_at,
        "decision": promotion.decision,
        "revision": promotion.revision,
        "document": _DOCUMENT.dump_json(promotion).decode(),
    }


def _page(connection: Connection, *, query: PromotionQuery, after: str | None, limit: int) -> list[Promotion]:
    found = select(_C.document).order_by(_C.requested_at.desc(), _C.id.desc()).limit(limit)
    if query.state is not None:
        found = found.where(_C.state == query.state.value)
    if query.channel is not None:
        found = found.where(_C.channel == query.channel.value)
    if query.hardware_class is not None:
        found = found.where(_C.hardware_class == query.hardware_class)
    if after is not None:
        last = connection.execute(select(_C.requested_at, _C.id).where(_C.id == after)).first()
        if last is None:
            raise NotFound(f"there is no promotion {after}")
        same_moment = and_(_C.requested_at == last.requested_at, _C.id < last.id)
        found = found.where(or_(_C.requested_at < last.requested_at, same_moment))
    return [_DOCUMENT.validate_json(document) for document in connection.scalars(found)]
