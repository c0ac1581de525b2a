"""Every test of the store runs on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from provisioner.capabilities.cipher import Cipher
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.postgres import PostgresServer


@pytest.fixture(scope="session")
def cipher(tmp_path_factory: pytest.TempPathFactory) -> Cipher:
    """One key file for all tests."""
    return open_cipher(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture(scope="session")
def migrated_template(postgres_server: PostgresServer, cipher: Cipher) -> str:
    """Return the name of a migrated database to copy."""
    name = postgres_server.create_database()
    open_store(postgres_server.url(name), cipher).close()
    return name


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
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = server.create_database(request.getfixturevalue("migrated_template"))
    yield server.url(name)
    server.drop_database(name)


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
