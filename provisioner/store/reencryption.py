"""After a new key was put first in the key file: everything encrypted again, so that the older keys can go."""

from functools import partial
from typing import Any

from sqlalchemy import Column, Connection, Table, bindparam, select, update

from provisioner.capabilities.cipher import Cipher
from provisioner.store.boot_tickets import BOOT_TICKETS
from provisioner.store.cipher_check import CIPHER_CHECK
from provisioner.store.database import Database
from provisioner.store.request_claims import REQUEST_CLAIMS
from provisioner.store.vault import VAULT
from provisioner.store.webhooks import WEBHOOKS

_ENCRYPTED: tuple[tuple[Table[Any], tuple[str, ...]], ...] = (
    (VAULT, ("factory", "current", "proposed")),
    (BOOT_TICKETS, ("key", "token")),
    (CIPHER_CHECK, ("sealed",)),
    (WEBHOOKS, ("secret",)),
    (REQUEST_CLAIMS, ("fingerprint", "answer")),
)


async def reencrypt(database: Database, cipher: Cipher) -> int:
    """One transaction for all, with the newest key of `cipher`; how many values. Raises `BadInput`, changes nothing."""
    return await database.write(partial(_reencrypt, cipher=cipher))


def _reencrypt(connection: Connection, *, cipher: Cipher) -> int:
    return sum(_column(connection, table.c[name], cipher) for table, names in _ENCRYPTED for name in names)


def _column(connection: Connection, column: Column[bytes], cipher: Cipher) -> int:
    keys = tuple(column.table.primary_key)
    query = select(*keys, column).where(column.is_not(None)).with_for_update()
    rows = connection.execute(query).all()
    sealed = [
        {**{f"key_{number}": value for number, value in enumerate(row[:-1])}, "sealed": _again(row[-1], cipher)}
        for row in rows
    ]
    this_row = [key == bindparam(f"key_{number}") for number, key in enumerate(keys)]
    if sealed:
        connection.execute(update(column.table).where(*this_row).values({column.name: bindparam("sealed")}), sealed)
    return len(sealed)


def _again(sealed: bytes, cipher: Cipher) -> bytes:
    return cipher.encrypt(cipher.decrypt(sealed))
