"""The schema, migrations and the opening of a database."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, text

from provisioner.capabilities.cipher import Cipher
from provisioner.errors import BadInput
from provisioner.models.node import Domains
from provisioner.store.node_rows import new_row
from provisioner.store.opening import open_store
from provisioner.store.schema import TABLES, schema
from provisioner.store.urls import database_url
from tests.store.nodes import N1, START, expected


def migrate_to(url: str, revision: str) -> None:
    """Make the database of an older program."""
    config = Config()
    config.set_main_option("script_location", "provisioner.store:migrations")
    config.set_main_option("path_separator", "os")
    with engine(url).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def engine(url: str) -> Engine:
    return create_engine(database_url(url))


def test_migrations_make_exactly_the_tables_of_the_code(empty_url: str, cipher: Cipher) -> None:
    open_store(empty_url, cipher).close()
    with engine(empty_url).connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema()) == []


async def test_a_database_of_an_older_program_is_brought_up_in_place(empty_url: str, cipher: Cipher) -> None:
    """What the first schema holds stays."""
    migrate_to(empty_url, "v0001")
    with engine(empty_url).begin() as connection:
        connection.execute(text("INSERT INTO pinned_certificates VALUES ('127.20.1.1:8443', 'aa')"))
    store = open_store(empty_url, cipher)
    assert await store.certificates.pinned("127.20.1.1:8443") == "aa"
    assert await store.found_bmcs.all() == []
    store.close()
    with engine(empty_url).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema()) == []


async def test_nodes_of_an_older_program_share_nothing_until_the_list_says_so(empty_url: str, cipher: Cipher) -> None:
    migrate_to(empty_url, "v0004")
    with engine(empty_url).begin() as connection:
        values = {**new_row(expected(1)[0], START), "state_since": START.isoformat()}
        known = {name: value for name, value in values.items() if not name.startswith("domain_")}
        names = ", ".join(known)
        places = ", ".join(f":{name}" for name in known)
        connection.execute(text(f"INSERT INTO nodes ({names}) VALUES ({places})"), known)
    store = open_store(empty_url, cipher)
    node = await store.nodes.get(N1)
    assert (node.domains, node.state_since) == (Domains(), START)
    store.close()


def test_every_table_is_listed() -> None:
    assert set(schema().tables.values()) == set(TABLES)


def test_several_workers_may_start_at_once(empty_url: str, cipher: Cipher) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: open_store(empty_url, cipher), range(4)))
    for store in stores:
        store.close()


def test_a_database_of_a_newer_program_is_refused(empty_url: str, cipher: Cipher) -> None:
    open_store(empty_url, cipher).close()
    with engine(empty_url).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'v9999'"))
    with pytest.raises(BadInput, match="newer Firstlight"):
        open_store(empty_url, cipher)


def test_a_sqlite_file_is_private_and_safe(tmp_path: Path, cipher: Cipher) -> None:
    path = tmp_path / "state" / "site.db"
    store = open_store(f"sqlite:///{path}", cipher)
    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o600}
    with store.database.writer.connect() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}
    store.close()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("mysql://root:geheim@db/site", "mysql is not supported"),
        ("/var/lib/site.db", "no URL"),
        ("postgresql://firstlight:geheim@127.0.0.1:1/site", "cannot use the database"),
        ("sqlite:////proc/nowhere/site.db", "cannot open the database"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(url: str, told: str, cipher: Cipher) -> None:
    with pytest.raises(BadInput, match=told) as refused:
        open_store(url, cipher)
    assert "geheim" not in str(refused.value)


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, cipher: Cipher) -> None:
    path = tmp_path / "site.db"
    path.write_text("a shopping list, long enough to look like something" * 100)
    with pytest.raises(BadInput, match="not a database"):
        open_store(f"sqlite:///{path}", cipher)
    assert path.read_text().startswith("a shopping list")


def test_readers_of_sqlite_cannot_write(tmp_path: Path, cipher: Cipher) -> None:
    store = open_store(f"sqlite:///{tmp_path}/site.db", cipher)
    with pytest.raises(Exception, match="readonly"), store.database.reader.begin() as connection:
        connection.execute(text("DELETE FROM nodes"))
    store.close()
    assert sqlite3.connect(tmp_path / "site.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)
