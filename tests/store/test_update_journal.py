"""The journal of firmware updates, on both databases."""

import asyncio
from datetime import timedelta

import pytest

from profiles.firmware.component import Activation
from provisioner.errors import Conflict, NotFound
from provisioner.firmware.phase import Change, Entry, Phase, Planned
from provisioner.models.identifiers import NodeName, TaskUri
from provisioner.store.opening import Store
from tests.store.nodes import N1, add_nodes, minutes

TASK = TaskUri("/redfish/v1/TaskService/Tasks/1")
BIOS = Planned("bios", "2.5", "sha256:aa", Activation.HOST_RESET)
BMC = Planned("bmc", "11.03.18", "sha256:bb", Activation.BMC_RESET)


async def planned(store: Store, *what: Planned, at: float = 1) -> list[Entry]:
    """The open entries after this plan."""
    return list(await store.journal.plan(N1, what, minutes(at)))


async def sent(store: Store, entry: Entry) -> Entry:
    """On its way."""
    (entry,) = await store.journal.move([entry], Change(Phase.PREFLIGHT, minutes(2)))
    change = Change(Phase.UPLOADED, minutes(3), "sending")
    (entry,) = await store.journal.send([entry], change, minutes(33), ["/tasks/0"])
    return entry


async def test_an_entry_is_read_back_as_it_was_written(store: Store) -> None:
    await add_nodes(store)
    entry, _ = await planned(store, BIOS, BMC)
    entry = await sent(store, entry)
    (entry,) = await store.journal.started([entry], TASK)
    first, second = await store.journal.open(N1)
    assert first == entry
    assert (entry.what, entry.task, entry.live_until, entry.tasks_before) == (BIOS, TASK, minutes(33), ("/tasks/0",))
    assert [(one.phase, one.at) for one in entry.changes] == [
        (Phase.PLANNED, minutes(1)),
        (Phase.PREFLIGHT, minutes(2)),
        (Phase.UPLOADED, minutes(3)),
    ]
    assert (second.what, second.phase, second.attempt) == (BMC, Phase.PLANNED, 1)


async def test_a_new_plan_replaces_what_was_only_planned(store: Store) -> None:
    """What was sent stays, and nothing is planned beside it: from A to B in a flash is not two flashes at once."""
    await add_nodes(store)
    entry, _ = await planned(store, BIOS, BMC)
    await sent(store, entry)
    other = Planned("bios", "2.6", "sha256:cc", Activation.HOST_RESET)
    assert [one.what for one in await planned(store, other)] == [BIOS]


async def test_of_two_that_send_the_same_one_is_told_to_look_again(store: Store) -> None:
    """Two workers, or a run beside its own ghost: one POST."""
    await add_nodes(store)
    (entry,) = await planned(store, BIOS)
    (entry,) = await store.journal.move([entry], Change(Phase.PREFLIGHT, minutes(2)))
    sends = (store.journal.send([entry], Change(Phase.UPLOADED, minutes(n)), minutes(9), []) for n in range(2, 6))
    ends = await asyncio.gather(*sends, return_exceptions=True)
    assert [type(one) for one in ends if isinstance(one, BaseException)] == [Conflict] * 3


async def test_all_classes_of_a_package_move_or_none_does(store: Store) -> None:
    await add_nodes(store)
    entries = await planned(store, BIOS, BMC)
    await store.journal.move(entries[1:], Change(Phase.PREFLIGHT, minutes(2)))
    with pytest.raises(Conflict, match="look again"):
        await store.journal.move(entries, Change(Phase.PREFLIGHT, minutes(3)))
    assert [one.phase for one in await store.journal.open(N1)] == [Phase.PLANNED, Phase.PREFLIGHT]


async def test_moves_that_the_table_does_not_allow_are_refused(store: Store) -> None:
    """`unknown` is left by reading the device only."""
    await add_nodes(store)
    (entry,) = await planned(store, BIOS)
    with pytest.raises(Conflict, match="from planned to staged"):
        await store.journal.move([entry], Change(Phase.STAGED, minutes(2), seen=True))
    (entry,) = await store.journal.move([await sent(store, entry)], Change(Phase.UNKNOWN, minutes(4)))
    with pytest.raises(Conflict, match="without a look at the device"):
        await store.journal.move([entry], Change(Phase.FAILED, minutes(5), "perhaps"))
    await store.journal.move([entry], Change(Phase.FAILED, minutes(5), "BIOS runs 2.4", seen=True))


async def test_finished_entries_stay_as_history_and_are_counted(store: Store) -> None:
    await add_nodes(store)
    for number in range(3):
        (entry,) = await planned(store, BIOS)
        assert entry.attempt == number + 1
        await store.journal.move([await sent(store, entry)], Change(Phase.FAILED, minutes(10 + number), "no"))
    assert [one.reason for one in await store.journal.history(N1)] == ["no"] * 3
    assert await store.journal.open(N1) == []
    assert await store.journal.forget(minutes(11) + timedelta(seconds=1)) == 2
    assert [one.attempt for one in await store.journal.history(N1)] == [3]


async def test_what_is_open_is_never_forgotten(store: Store) -> None:
    await add_nodes(store)
    await planned(store, BIOS)
    assert await store.journal.forget(minutes(100_000)) == 0


async def test_a_node_that_is_not_there_has_no_journal(store: Store) -> None:
    await add_nodes(store)
    with pytest.raises(NotFound):
        await store.journal.plan(NodeName("nobody"), [BIOS], minutes(1))
