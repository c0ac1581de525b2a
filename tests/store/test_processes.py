"""Several processes on one database, and what is left when one is killed."""

import asyncio
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from provisioner.models.event import EventKind
from provisioner.models.lifecycle import State
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.store.nodes import N1, START, add_nodes


def start_mover(url: str, key_file: Path, name: str, moves: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.mover", url, str(key_file), name, str(moves)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def moves_of_n1(store: Store) -> list[tuple[State | None, State | None, str]]:
    """Return from, to and reason of every move, and check that each begins where the last one ended."""
    events = [event for event in await store.events.of(N1, 10_000) if event.kind is EventKind.TRANSITION]
    assert all(last.to_state is next_.from_state for last, next_ in pairwise(events))
    now = await store.nodes.get(N1)
    assert not events or now.state is events[-1].to_state
    return [(event.from_state, event.to_state, event.reason) for event in events]


async def test_of_many_that_move_a_node_at_once_one_wins(store: Store) -> None:
    seen = await add_nodes(store)
    won = await asyncio.gather(
        *(store.nodes.advance(seen, State.IDENTIFIED, f"worker {number}", START) for number in range(16))
    )
    assert sum(won) == 1
    assert [reason for *_, reason in await moves_of_n1(store)] == [f"worker {won.index(True)}"]


async def test_processes_that_move_the_same_node_never_both_win(url: str, tmp_path: Path) -> None:
    store = open_store(url, open_cipher(tmp_path / "key"))
    await add_nodes(store)
    movers = [start_mover(url, tmp_path / "key", name, 60) for name in ("a", "b")]
    printed = [mover.communicate(timeout=120)[0].splitlines() for mover in movers]
    assert [mover.returncode for mover in movers] == [0, 0]
    won = [sum(line != "lost" for line in lines) for lines in printed]
    reasons = [reason for *_, reason in await moves_of_n1(store)]
    assert [reasons.count("a"), reasons.count("b")] == won
    store.close()


async def test_a_killed_process_leaves_a_readable_database_with_all_that_it_committed(url: str, tmp_path: Path) -> None:
    store = open_store(url, open_cipher(tmp_path / "key"))
    await add_nodes(store)
    told = 0
    for killed, moves_before_death in enumerate((1, 7, 30), 1):
        mover = start_mover(url, tmp_path / "key", "mover", 1_000_000)
        assert mover.stdout is not None
        for _ in range(moves_before_death):
            assert "lost" not in mover.stdout.readline()
        mover.kill()
        told += moves_before_death + len(mover.stdout.read().splitlines())
        mover.wait()
        mover.stdout.close()
        assert 0 <= len(await moves_of_n1(store)) - told <= killed, "all that it told, and one that it could not tell"
    assert await store.nodes.advance(await store.nodes.get(N1), State.READY, "still writable", START)
    store.close()


async def test_readers_of_the_history_never_miss_an_event(url: str, tmp_path: Path) -> None:
    """An id that is committed after a greater one was read would never be shown."""
    store = open_store(url, open_cipher(tmp_path / "key"))
    await add_nodes(store, 40)
    seen = [event.id for event in await store.events.after(0)]

    async def move(number: int) -> None:
        for state in (State.BOOTING, State.BURNING_IN) * 4:
            node = (await store.nodes.all())[number]
            await store.nodes.advance(node, state, "next", START)

    async with asyncio.TaskGroup() as group:
        moving = [group.create_task(move(number)) for number in range(8)]
        while not all(task.done() for task in moving):
            seen += [event.id for event in await store.events.after(seen[-1])]
    seen += [event.id for event in await store.events.after(seen[-1])]
    assert seen == [event.id for event in await store.events.after(0, 1000)]
    store.close()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_sqlite_file_of_a_killed_process_is_whole(url: str, tmp_path: Path) -> None:
    store = open_store(url, open_cipher(tmp_path / "key"))
    await add_nodes(store)
    mover = start_mover(url, tmp_path / "key", "mover", 1_000_000)
    assert mover.stdout is not None
    mover.stdout.readline()
    mover.kill()
    mover.communicate()
    with store.database.reader.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
    store.close()
