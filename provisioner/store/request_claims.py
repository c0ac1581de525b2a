"""Claims of requests: the same one is done once."""

import hmac
import json
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Index,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
    and_,
    delete,
    func,
    select,
    text,
    update,
)
from sqlalchemy import insert as plain_insert

from provisioner.capabilities.cipher import Cipher
from provisioner.capabilities.request_claims import Claim, ClaimOrder, KeptAnswer, KeyReused, StillRunning
from provisioner.errors import Conflict
from provisioner.store.columns import UtcDateTime
from provisioner.store.database import Database
from provisioner.store.inserts import insert_if_new
from provisioner.store.metadata import METADATA


class RequestClaimColumns(TypedColumns):
    """One row per try. What was sent and answered is encrypted: there may be passwords and tokens in it.

    `lost`: another try has taken the work over. `subject`: what was changed, from the transaction of the change on.
    """

    request: Named[str] = Column(Text, primary_key=True)
    principal: Named[str] = Column(Text)
    key: Named[str] = Column(Text)
    fingerprint: Named[bytes] = Column(LargeBinary)
    claimed_at: Named[datetime] = Column(UtcDateTime)
    leased_until: Named[datetime] = Column(UtcDateTime)
    lost: Named[bool] = Column(Boolean)
    subject: Named[str | None] = Column(Text)
    answer: Named[bytes | None] = Column(LargeBinary)


REQUEST_CLAIMS = Table(
    "request_claims",
    METADATA,
    RequestClaimColumns,
    Index(
        "ux_request_claims_key",
        "principal",
        "key",
        unique=True,
        sqlite_where=text("NOT lost"),
        postgresql_where=text("NOT lost"),
    ),
    Index(None, "claimed_at"),
)
_C = REQUEST_CLAIMS.c


class SqlRequestClaims:
    """`RequestClaims` in SQL."""

    def __init__(self, database: Database, cipher: Cipher) -> None:
        """Reads and writes `database`."""
        self._database = database
        self._cipher = cipher

    async def claim(self, order: ClaimOrder, until: datetime) -> Claim | KeptAnswer:
        """As the protocol says."""
        return await self._database.write(partial(_claim, order=order, until=until, cipher=self._cipher))

    async def renew(self, request: str, until: datetime) -> None:
        """As the protocol says."""
        statement = update(REQUEST_CLAIMS).where(_C.request == request).values(leased_until=until)
        await self._database.write(lambda connection: connection.execute(statement))

    async def keep(self, request: str, answer: KeptAnswer) -> None:
        """As the protocol says."""
        document = {"status": answer.status, "headers": dict(answer.headers), "body": b64encode(answer.body).decode()}
        sealed = self._cipher.encrypt(json.dumps(document).encode())
        statement = update(REQUEST_CLAIMS).where(_C.request == request, ~_C.lost).values(answer=sealed)
        await self._database.write(lambda connection: connection.execute(statement))

    async def release(self, request: str) -> None:
        """As the protocol says."""
        await self._database.write(partial(_release, request=request))

    async def forget(self, before: datetime) -> int:
        """Delete the claims of before `before`; how many."""
        statement = delete(REQUEST_CLAIMS).where(and_(_C.claimed_at < before, _C.leased_until < before))
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)


def mark_done(connection: Connection, request: str, subject: str) -> None:
    """In the transaction of a change: the try `request`, if it has a claim, has changed `subject`.

    Raises `Conflict` when another try has taken the claim over: the transaction then changes nothing.
    """
    statement = update(REQUEST_CLAIMS).where(_C.request == request).values(subject=func.coalesce(_C.subject, subject))
    lost = connection.scalar(statement.returning(_C.lost))
    if lost:
        raise Conflict("another try of the same request has taken over: this one has changed nothing")


def _claim(connection: Connection, *, order: ClaimOrder, until: datetime, cipher: Cipher) -> Claim | KeptAnswer:
    values = _row(order, until, cipher)
    if insert_if_new(connection, table=REQUEST_CLAIMS, values=values):
        return Claim(done=None)
    mine = (_C.principal == order.principal, _C.key == order.key, ~_C.lost)
    row = connection.execute(select(REQUEST_CLAIMS).where(*mine).with_for_update()).first()
    if row is None:
        raise StillRunning("an equal request has just ended: ask again")
    if not hmac.compare_digest(cipher.decrypt(row.fingerprint), order.fingerprint):
        raise KeyReused("Idempotency-Key: another request had this key: take a new one for each")
    if row.answer is not None:
        return _answer(cipher.decrypt(row.answer))
    if row.leased_until > datetime.now(UTC):
        raise StillRunning("an equal request is being answered: ask again")
    connection.execute(update(REQUEST_CLAIMS).where(_C.request == row.request).values(lost=True))
    connection.execute(plain_insert(REQUEST_CLAIMS).values({**values, "subject": row.subject}))
    return Claim(done=row.subject)


def _row(order: ClaimOrder, until: datetime, cipher: Cipher) -> dict[str, Any]:
    return {
        "request": order.request,
        "principal": order.principal,
        "key": order.key,
        "fingerprint": cipher.encrypt(order.fingerprint),
        "claimed_at": datetime.now(UTC),
        "leased_until": until,
        "lost": False,
        "subject": None,
        "answer": None,
    }


def _answer(opened: bytes) -> KeptAnswer:
    document = json.loads(opened)
    return KeptAnswer(document["status"], document["headers"], b64decode(document["body"]))


def _release(connection: Connection, *, request: str) -> None:
    """What has changed nothing was never there."""
    connection.execute(delete(REQUEST_CLAIMS).where(_C.request == request, _C.subject.is_(None), ~_C.lost))
    connection.execute(update(REQUEST_CLAIMS).where(_C.request == request).values(leased_until=datetime.now(UTC)))
