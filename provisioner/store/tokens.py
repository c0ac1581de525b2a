"""API tokens, of which only hashes are kept."""

import os
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import Column, Connection, LargeBinary, Named, Table, Text, TypedColumns, delete, select

from provisioner.capabilities.tokens import TokenHolder
from provisioner.errors import BadInput, Conflict, NotFound
from provisioner.models.role import Role
from provisioner.models.secret import Secret
from provisioner.store.database import Database
from provisioner.store.hashes import sha256
from provisioner.store.inserts import insert_if_new
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.metadata import METADATA

_ADMIN = "admin"


class TokenColumns(TypedColumns):
    """One token per holder."""

    name: Named[str] = Column(Text, primary_key=True)
    role: Named[str] = Column(Text)
    hash: Named[bytes] = Column(LargeBinary, unique=True)


TOKENS = Table("tokens", METADATA, TokenColumns)


class SqlTokens:
    """`Tokens` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def create(self, name: str, role: Role) -> Secret:
        """A new token of 256 random bits, shown this once. Raises `Conflict` when the name has one already."""
        token = _generate()
        values = {"name": name, "role": role.value, "hash": sha256(token)}
        if not await self._database.write(partial(insert_if_new, table=TOKENS, values=values)):
            raise Conflict(f"{name} has a token already: revoke it first")
        return token

    async def check(self, secret: Secret) -> TokenHolder | None:
        """Whose token it is, or None."""
        query = select(TOKENS.c.name, TOKENS.c.role).where(TOKENS.c.hash == sha256(secret))
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        return None if row is None else TokenHolder(row[0], Role(row[1]))

    async def list(self) -> Sequence[TokenHolder]:
        """Every holder, by name."""
        query = select(TOKENS.c.name, TOKENS.c.role).order_by(TOKENS.c.name)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [TokenHolder(name, Role(role)) for name, role in rows]

    async def revoke(self, name: str) -> None:
        """Make the token useless at once. Raises `NotFound`."""
        statement = delete(TOKENS).where(TOKENS.c.name == name)
        if await self._database.write(lambda connection: connection.execute(statement).rowcount) == 0:
            raise NotFound(f"{name} has no token")

    async def ensure_admin(self, path: Path) -> bool:
        """At the first start, make a token named `admin` and write it to `path` (mode 0600); True when it did.

        The file comes before the commit: after a crash in between, the next start writes another token over it.
        Raises `BadInput` when the file cannot be written.
        """
        return await self._database.write(partial(_ensure_admin, path=path))


def _generate() -> Secret:
    return Secret(secrets.token_urlsafe(32))


def _ensure_admin(connection: Connection, *, path: Path) -> bool:
    hold_lock(connection, Lock.ADMIN_TOKEN)
    if connection.scalar(select(TOKENS.c.name).where(TOKENS.c.name == _ADMIN)) is not None:
        return False
    token = _generate()
    try:
        _write_private(path, token)
    except OSError as error:
        raise BadInput(f"{path}: cannot write the admin token: {error}") from error
    return insert_if_new(
        connection, table=TOKENS, values={"name": _ADMIN, "role": Role.ADMIN.value, "hash": sha256(token)}
    )


def _write_private(path: Path, token: Secret) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(token.reveal() + "\n")
        file.flush()
        os.fsync(descriptor)
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
