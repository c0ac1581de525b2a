"""API tokens, of which only hashes are kept."""

import os
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Named, Table, Text, TypedColumns, delete, select, update

from images.whole_files import sync_directory
from provisioner.capabilities.tokens import UNLIMITED, TokenHolder, TokenRecord, TokenTerms
from provisioner.errors import BadInput, Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.role import Role, Scope
from provisioner.models.secret import Secret
from provisioner.store.audit import write_audit_if_given
from provisioner.store.columns import AnyRow, UtcDateTime
from provisioner.store.database import Database
from provisioner.store.hashes import sha256
from provisioner.store.inserts import insert_if_new
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.metadata import METADATA

_ADMIN = "admin"
_PREFIX = "flt_"
"""So that secret scanners can tell a token of ours."""
_SHOWN = len(_PREFIX) + 6
"""Characters of a token that are kept as they are: 36 of its 256 random bits."""
_USE_IS_NOTED_EVERY = timedelta(minutes=10)


class TokenColumns(TypedColumns):
    """One token per holder. `scopes`: words between spaces; NULL where the role alone counts."""

    name: Named[str] = Column(Text, primary_key=True)
    role: Named[str] = Column(Text)
    hash: Named[bytes] = Column(LargeBinary, unique=True)
    prefix: Named[str] = Column(Text)
    scopes: Named[str | None] = Column(Text)
    created_at: Named[datetime | None] = Column(UtcDateTime)
    expires_at: Named[datetime | None] = Column(UtcDateTime)
    last_used_at: Named[datetime | None] = Column(UtcDateTime)


TOKENS = Table("tokens", METADATA, TokenColumns)


class SqlTokens:
    """`Tokens` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database
        self._noted: dict[str, datetime] = {}
        """When this process last wrote down that a token was used."""

    async def create(
        self, name: str, role: Role, terms: TokenTerms = UNLIMITED, *, audit: AuditEntry | None = None
    ) -> Secret:
        """A new token of 256 random bits, shown this once. Raises `Conflict` when the name has one already."""
        token = _generate()
        values = _row(name, role, terms, token)
        if not await self._database.write(partial(_create, values=values, audit=audit)):
            raise Conflict(f"{name} has a token already: revoke it first")
        return token

    async def check(self, secret: Secret) -> TokenHolder | None:
        """Whose token it is, or None; an expired one is nobody's."""
        query = select(TOKENS).where(TOKENS.c.hash == sha256(secret))
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        now = datetime.now(UTC)
        if row is None or _is_over(row, now):
            return None
        await self._note_use(row, now)
        return _holder(row)

    async def holds(self, holder: TokenHolder) -> bool:
        """As the protocol says."""
        query = select(TOKENS).where(TOKENS.c.name == holder.name)
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        return row is not None and not _is_over(row, datetime.now(UTC)) and _holder(row) == holder

    async def list(self) -> Sequence[TokenRecord]:
        """Every token, by name."""
        query = select(TOKENS).order_by(TOKENS.c.name)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_record(row) for row in rows]

    async def get(self, name: str) -> TokenRecord:
        """As the protocol says."""
        query = select(TOKENS).where(TOKENS.c.name == name)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"{name} has no token")
        return _record(row)

    async def revoke(self, name: str, *, audit: AuditEntry | None = None) -> None:
        """Make the token useless at once. Raises `NotFound`."""
        if not await self._database.write(partial(_revoke, name=name, audit=audit)):
            raise NotFound(f"{name} has no token")

    async def ensure_admin(self, path: Path) -> bool:
        """At the first start, make a token named `admin` and write it to `path` (mode 0600); True when it did.

        The file comes before the commit: after a crash in between, the next start writes another token over it.
        Raises `BadInput` when the file cannot be written.
        """
        return await self._database.write(partial(_ensure_admin, path=path))

    async def _note_use(self, row: AnyRow, now: datetime) -> None:
        """Seldom: a write for each request would cost more than the request."""
        before = [at for at in (row.last_used_at, self._noted.get(row.name)) if at is not None]
        if before and now - max(before) < _USE_IS_NOTED_EVERY:
            return
        self._noted[row.name] = now
        statement = update(TOKENS).where(TOKENS.c.hash == row.hash).values(last_used_at=now)
        await self._database.write(lambda connection: connection.execute(statement))


def _generate() -> Secret:
    return Secret(_PREFIX + secrets.token_urlsafe(32))


def _row(name: str, role: Role, terms: TokenTerms, token: Secret) -> dict[str, Any]:
    scopes = None if terms.narrowed_to is None else " ".join(sorted(terms.narrowed_to))
    return {
        "name": name,
        "role": role.value,
        "hash": sha256(token),
        "prefix": token.reveal()[:_SHOWN],
        "scopes": scopes,
        "created_at": datetime.now(UTC),
        "expires_at": terms.expires_at,
        "last_used_at": None,
    }


def _create(connection: Connection, *, values: dict[str, Any], audit: AuditEntry | None) -> bool:
    created = insert_if_new(connection, table=TOKENS, values=values)
    if created:
        write_audit_if_given(connection, audit)
    return created


def _revoke(connection: Connection, *, name: str, audit: AuditEntry | None) -> bool:
    revoked = connection.execute(delete(TOKENS).where(TOKENS.c.name == name)).rowcount > 0
    if revoked:
        write_audit_if_given(connection, audit)
    return revoked


def _is_over(row: AnyRow, now: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= now


def _holder(row: AnyRow) -> TokenHolder:
    narrowed = None if row.scopes is None else frozenset(Scope(word) for word in row.scopes.split())
    return TokenHolder(row.name, Role(row.role), narrowed)


def _record(row: AnyRow) -> TokenRecord:
    return TokenRecord(_holder(row), row.prefix, row.created_at, row.expires_at, row.last_used_at)


def _ensure_admin(connection: Connection, *, path: Path) -> bool:
    hold_lock(connection, Lock.ADMIN_TOKEN)
    if connection.scalar(select(TOKENS.c.name).where(TOKENS.c.name == _ADMIN)) is not None:
        return False
    token = _generate()
    try:
        _write_private(path, token)
    except OSError as error:
        raise BadInput(f"{path}: cannot write the admin token: {error}") from error
    return insert_if_new(connection, table=TOKENS, values=_row(_ADMIN, Role.ADMIN, UNLIMITED, token))


def _write_private(path: Path, token: Secret) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(token.reveal() + "\n")
        file.flush()
        os.fsync(descriptor)
    fresh.replace(path)
    sync_directory(path.parent)
