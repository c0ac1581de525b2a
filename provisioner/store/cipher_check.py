"""Proof that the key file belongs to the database."""

from sqlalchemy import Column, Connection, Integer, LargeBinary, Named, Table, TypedColumns, select

from provisioner.capabilities.cipher import Cipher
from provisioner.store.inserts import insert_if_new
from provisioner.store.metadata import METADATA

_WORDS = b"firstlight"


class CipherCheckColumns(TypedColumns):
    """One row with an encrypted word that everybody knows."""

    id: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    sealed: Named[bytes] = Column(LargeBinary)


CIPHER_CHECK = Table("cipher_check", METADATA, CipherCheckColumns)


def check_cipher(connection: Connection, cipher: Cipher) -> None:
    """Better at the start than in the middle of a rollout: raises `BadInput` when this cipher reads nothing here."""
    insert_if_new(connection, table=CIPHER_CHECK, values={"id": 1, "sealed": cipher.encrypt(_WORDS)})
    cipher.decrypt(connection.execute(select(CIPHER_CHECK.c.sealed)).scalar_one())
