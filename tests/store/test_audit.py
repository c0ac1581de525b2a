"""The audit log in the database."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from provisioner.models.audit import NOTHING_BEFORE, AuditEntry, text_of
from provisioner.models.secret import Credentials, Secret
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.services.audit import Broken, Verified, verify
from provisioner.store.audit import write_audit
from provisioner.store.opening import Store, open_store
from tests.store.nodes import N1, START, a_hold, add_nodes, minutes

ENTRY = AuditEntry(START, "anna", "node.hold", N1, request="urn:uuid:1")
FULL = replace(ENTRY, at=minutes(1), before="sha256:aa", after="sha256:bb", evidence=("sha256:cc", "run-7"))


async def verified(store: Store) -> Verified | Broken:
    return verify([text_of(line) for line in await store.audit.page(0, 1000)])


async def test_a_line_comes_back_as_it_was_written(store: Store) -> None:
    first, second = await store.audit.record(ENTRY), await store.audit.record(FULL)
    assert [first, second] == await store.audit.page(0, 10)
    assert (first.number, first.previous, first.entry) == (1, NOTHING_BEFORE, ENTRY)
    assert (second.number, second.previous, second.entry) == (2, first.digest, FULL)
    assert await store.audit.page(1, 10) == [second]
    assert await store.audit.page(0, 1) == [first]
    assert await verified(store) == Verified(2, second.digest)


@pytest.mark.parametrize("change", ["UPDATE audit SET who = 'eve'", "DELETE FROM audit"])
async def test_the_database_itself_refuses_to_change_a_line(store: Store, change: str) -> None:
    await store.audit.record(ENTRY)
    with pytest.raises(DBAPIError, match="append-only"), store.database.writer.begin() as connection:
        connection.execute(text(change))
    assert [line.entry for line in await store.audit.page(0, 10)] == [ENTRY]


async def test_many_tasks_at_once_make_one_chain(store: Store) -> None:
    await asyncio.gather(*(store.audit.record(replace(ENTRY, who=f"w{number}")) for number in range(40)))
    lines = await store.audit.page(0, 100)
    assert {line.entry.who for line in lines} == {f"w{number}" for number in range(40)}
    assert await verified(store) == Verified(40, lines[-1].digest)


def start_writer(url: str, key: Path, who: str, lines: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.store.auditor", url, str(key), who, str(lines)])


async def test_several_processes_at_once_make_one_chain(url: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    store = open_store(url, open_cipher(key))
    writers = [start_writer(url, key, who, 40) for who in ("a", "b", "c")]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    whos = [line.entry.who for line in await store.audit.page(0, 1000)]
    assert sorted(whos) == ["a"] * 40 + ["b"] * 40 + ["c"] * 40
    assert (await verified(store)) == Verified(120, (await store.audit.page(119, 1))[0].digest)
    store.close()


async def test_what_is_rolled_back_leaves_no_line_and_no_gap(store: Store) -> None:
    await store.audit.record(ENTRY)
    with store.database.writer.connect() as connection, connection.begin() as transaction:
        assert write_audit(connection, FULL).number == 2
        transaction.rollback()
    again = await store.audit.record(FULL)
    assert await verified(store) == Verified(2, again.digest)


async def test_a_change_and_its_line_are_one_transaction(store: Store) -> None:
    """Who comes too late changes nothing, and no line says so."""
    seen = await add_nodes(store)
    assert await store.nodes.hold(seen, a_hold(), audit=ENTRY)
    assert not await store.nodes.hold(seen, a_hold("another"), audit=replace(ENTRY, who="too late"))
    held = await store.nodes.get(N1)
    assert await store.nodes.let_go(held, "looked at", minutes(1), audit=FULL)
    label = Credentials("ADMIN", Secret("on-the-label"))
    await store.vault.replace(N1, label, audit=replace(ENTRY, what="node.password"))
    await store.certificates.forget("127.20.1.1:8443", audit=replace(ENTRY, what="node.trust"))
    lines = await store.audit.page(0, 10)
    assert [line.entry.what for line in lines] == ["node.hold", "node.hold", "node.password", "node.trust"]
    assert [line.entry.who for line in lines] == ["anna"] * 4


async def test_the_service_by_itself_writes_none(store: Store) -> None:
    assert await store.nodes.hold(await add_nodes(store), a_hold())
    assert await store.audit.page(0, 10) == []


async def test_a_line_that_was_changed_past_the_triggers_is_found(store: Store) -> None:
    for who in ("anna", "ben", "carl"):
        await store.audit.record(replace(ENTRY, who=who))
    with store.database.writer.begin() as connection:
        postgres = connection.dialect.name == "postgresql"
        connection.execute(
            text(f"DROP TRIGGER {'audit_is_append_only ON audit' if postgres else 'audit_refuses_update'}")
        )
        connection.execute(text("UPDATE audit SET who = 'eve' WHERE number = 2"))
        if postgres:  # the tests after this one use the same database
            connection.execute(
                text(
                    "CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit "
                    "FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()"
                )
            )
    why = "entry 2 (node.hold r01-u01 by eve) was changed: its digest does not fit its content"
    assert await verified(store) == Broken(2, why)
