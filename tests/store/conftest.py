"""Every test of the store runs on both databases."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from provisioner.capabilities.cipher import Cipher
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from provisioner.store.schema import TABLES
from tests.postgres import PostgresServer


@pytest.fixture(scope="session")
def cipher(tmp_path_factory: pytest.TempPathFactory) -> Cipher:
    """One key file for all tests."""
    return open_cipher(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture(scope="session")
def migrated_url(postgres_server: PostgresServer, cipher: Cipher) -> str:
    """Return the URL of a migrated database that tests use one after the other: emptied much faster than made."""
    url = postgres_server.url(postgres_server.create_database())
    open_store(url, cipher).close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/site.db"
    url: str = request.getfixturevalue("postgres_database")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database for one test."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/site.db"
        return
    shared: str = request.getfixturevalue("migrated_url")
    yield shared
    with psycopg.connect(shared) as connection:
        connection.execute(SQL("TRUNCATE {}").format(SQL(", ").join(Identifier(table.name) for table in TABLES)))


@pytest.fixture
def changes() -> list[str]:
    """Return a list that grows by one with each call of `on_change`."""
    return []


@pytest.fixture
def store(url: str, cipher: Cipher, changes: list[str]) -> Iterator[Store]:
    """An empty store."""
    store = open_store(url, cipher, lambda: changes.append("changed"))
    yield store
    store.close()
