"""Nodes, their moves and their history."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from provisioner.capabilities.cipher import Cipher
from provisioner.errors import Conflict, NotFound
from provisioner.models.event import EventKind
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains, Node, Which
from provisioner.store.opening import Store, open_store
from provisioner.store.retention import delete_events
from tests.store.nodes import N1, N2, START, a_hold, add_nodes, expected, minutes

RELEASE = ReleaseDigest("sha256:" + "1" * 64)


async def walk(store: Store, *states: State) -> Node:
    """Move N1 through states; as it is then."""
    for state in states:
        assert await store.nodes.advance(await store.nodes.get(N1), state, "next", minutes(1))
    return await store.nodes.get(N1)


async def test_what_the_expected_list_says_is_kept(store: Store) -> None:
    assert await store.nodes.expect(expected(40), START) == 40
    first, *_, last = await store.nodes.all()
    assert first == Node(
        name=N1,
        rack=expected(1)[0].rack,
        position=1,
        bmc=expected(1)[0].bmc,
        state=State.DISCOVERED,
        state_since=START,
        expected_serial="S1-1",
    )
    assert last.name == "r03-u08"
    events = await store.events.of(N1)
    assert [(event.kind, event.to_state, event.at) for event in events] == [
        (EventKind.DISCOVERED, State.DISCOVERED, START)
    ]


async def test_a_longer_list_adds_only_what_is_new(store: Store) -> None:
    await add_nodes(store, 2)
    before = await walk(store, State.IDENTIFIED)
    moved = replace(expected(1)[0], position=9)
    assert await store.nodes.expect([moved, *expected(3)[1:]], minutes(9)) == 1
    assert await store.nodes.get(N1) == before
    assert await store.nodes.expect([], minutes(9)) == 0


async def test_domains_are_those_of_the_list_whenever_it_is_read(store: Store) -> None:
    """A site adds them to its list long after its nodes are known."""
    await add_nodes(store, 2)
    before = await walk(store, State.IDENTIFIED)
    assert before.domains == Domains()
    first, second = expected(2)
    told = replace(first, domains=Domains(tray="t1", power="pdu-a"))
    assert await store.nodes.expect([told, second], minutes(9)) == 0
    assert await store.nodes.get(N1) == replace(before, domains=told.domains)
    assert (await store.nodes.get(N2)).domains == Domains()
    assert await store.nodes.expect([replace(first, domains=Domains(chassis="c1"))], minutes(9)) == 0
    assert (await store.nodes.get(N1)).domains == Domains(chassis="c1")


async def test_a_name_that_nobody_knows_is_not_found(store: Store) -> None:
    nobody = NodeName("r99-u01")
    with pytest.raises(NotFound, match="r99-u01"):
        await store.nodes.get(nobody)
    with pytest.raises(NotFound):
        await store.nodes.assign(nobody, "hgx-h100", RELEASE)
    with pytest.raises(NotFound):
        await store.nodes.identify(nobody, Identity("S", "U", "", ""))
    with pytest.raises(NotFound):
        await store.nodes.observe_image(nobody, "sha256:0", START)
    with pytest.raises(NotFound):
        await store.nodes.desire(nobody, RELEASE, "try", START)


async def test_a_move_and_its_event_come_together(store: Store, changes: list[str]) -> None:
    seen = await add_nodes(store)
    assert await store.nodes.advance(seen, State.IDENTIFIED, "answered at its address", minutes(1))
    now = await store.nodes.get(N1)
    assert (now.state, now.state_since, now.attempt) == (State.IDENTIFIED, minutes(1), 1)
    event = (await store.events.of(N1))[-1]
    assert (event.from_state, event.to_state) == (State.DISCOVERED, State.IDENTIFIED)
    assert event.reason == "answered at its address"
    assert len(changes) == 2


async def test_who_saw_an_older_state_changes_nothing(store: Store, changes: list[str]) -> None:
    seen = await add_nodes(store)
    await walk(store, State.IDENTIFIED)
    before, events, heard = await store.nodes.get(N1), await store.events.after(0), len(changes)
    assert not await store.nodes.advance(seen, State.SECURED, "late", minutes(2))
    assert not await store.nodes.hold(seen, a_hold())
    assert not await store.nodes.failed(seen, "late", minutes(2), minutes(3))
    assert not await store.nodes.let_go(seen, "late", minutes(2))
    assert await store.nodes.get(N1) == before
    assert await store.events.after(0) == events
    assert len(changes) == heard


async def test_a_failed_try_gets_a_new_attempt_later_and_success_forgets_it(store: Store) -> None:
    seen = await add_nodes(store)
    assert await store.nodes.failed(seen, "no answer", minutes(1), minutes(2))
    assert await store.nodes.failed(await store.nodes.get(N1), "no answer", minutes(2), minutes(4))
    now = await store.nodes.get(N1)
    assert (now.attempt, now.failures, now.retry_at, now.state_since) == (3, 2, minutes(4), START)
    now = await walk(store, State.IDENTIFIED)
    assert (now.attempt, now.failures, now.retry_at) == (3, 0, None)
    kinds = [event.kind for event in await store.events.of(N1)]
    assert kinds == [EventKind.DISCOVERED, EventKind.RETRY, EventKind.RETRY, EventKind.TRANSITION]


async def test_a_held_node_goes_back_to_where_it_was(store: Store) -> None:
    await add_nodes(store)
    seen = await walk(store, State.IDENTIFIED)
    hold = a_hold()
    assert await store.nodes.hold(seen, hold)
    held = await store.nodes.get(N1)
    assert (held.state, held.held_from, held.hold) == (State.HELD, State.IDENTIFIED, hold)
    assert held.state_since == hold.since
    assert await store.nodes.let_go(held, "package added", minutes(9))
    now = await store.nodes.get(N1)
    assert (now.state, now.held_from, now.hold) == (State.IDENTIFIED, None, None)
    assert now.attempt == held.attempt + 1
    event = (await store.events.of(N1))[-1]
    assert (event.kind, event.from_state, event.to_state) == (EventKind.RELEASED, State.HELD, State.IDENTIFIED)


async def test_the_reason_of_a_hold_can_change_and_who_saw_the_older_one_is_late(store: Store) -> None:
    seen = await add_nodes(store)
    await store.nodes.hold(seen, a_hold("first"))
    first = await store.nodes.get(N1)
    assert await store.nodes.hold(first, a_hold("second"))
    second = await store.nodes.get(N1)
    assert second.hold == a_hold("second")
    assert second.held_from is State.DISCOVERED
    assert not await store.nodes.let_go(first, "for the first reason", minutes(9))
    assert await store.nodes.let_go(second, "for the second reason", minutes(9))


async def test_a_held_node_can_leave_for_good(store: Store) -> None:
    await store.nodes.hold(await add_nodes(store), a_hold())
    now = await walk(store, State.DECOMMISSIONING)
    assert (now.hold, now.held_from) == (None, None)


async def test_held_is_entered_by_a_hold_only(store: Store) -> None:
    with pytest.raises(ValueError, match="hold"):
        await store.nodes.advance(await add_nodes(store), State.HELD, "because", START)


async def test_another_release_is_a_new_generation_from_inventoried_on(store: Store) -> None:
    await add_nodes(store)
    await walk(store, State.INVENTORIED, State.BOOTING, State.BURNING_IN, State.BOOTING)
    assert await store.nodes.desire(N1, RELEASE, "new driver", minutes(9)) == 2
    now = await store.nodes.get(N1)
    assert (now.state, now.generation, now.attempt, now.release) == (State.INVENTORIED, 2, 1, RELEASE)
    assert now.state_since == minutes(9)


async def test_another_release_for_a_node_that_is_not_that_far_leaves_it_where_it_is(store: Store) -> None:
    await add_nodes(store)
    before = await walk(store, State.IDENTIFIED)
    assert await store.nodes.desire(N1, RELEASE, "new driver", minutes(9)) == 2
    now = await store.nodes.get(N1)
    assert (now.state, now.state_since, now.attempt) == (State.IDENTIFIED, before.state_since, 1)


async def test_another_release_keeps_a_hold_and_changes_where_it_ends(store: Store) -> None:
    await add_nodes(store)
    await store.nodes.hold(await walk(store, State.BOOTING), a_hold())
    await store.nodes.desire(N1, RELEASE, "new driver", minutes(9))
    now = await store.nodes.get(N1)
    assert (now.state, now.held_from, now.hold) == (State.HELD, State.INVENTORIED, a_hold())


async def test_a_node_on_its_way_out_gets_no_release(store: Store) -> None:
    await add_nodes(store)
    await walk(store, State.DECOMMISSIONING)
    with pytest.raises(Conflict, match="decommissioning"):
        await store.nodes.desire(N1, RELEASE, "new driver", minutes(9))


async def test_two_servers_that_say_the_same_are_told_and_not_merged(store: Store) -> None:
    await add_nodes(store, 4)
    third, fourth = (one.name for one in (await store.nodes.all())[2:])
    assert await store.nodes.identify(N1, Identity(" ABC123 ", "", "Dell Inc.", "XE9680")) == []
    assert await store.nodes.identify(N2, Identity("", "4C4C4544-AA", "", "")) == []
    assert await store.nodes.identify(third, Identity("abc123", " 4c4c4544-aa", "", "")) == [N1, N2]
    assert await store.nodes.identify(fourth, Identity("", "  ", "", "")) == []
    first, second = await store.nodes.get(N1), await store.nodes.get(N2)
    assert (first.serial, first.uuid, first.manufacturer, first.model) == ("ABC123", None, "Dell Inc.", "XE9680")
    assert (second.serial, second.uuid) == (None, "4C4C4544-AA")


async def test_of_two_servers_that_say_the_same_at_once_one_sees_the_other(store: Store) -> None:
    await add_nodes(store)
    same = Identity("S1", "U1", "", "")
    found = await asyncio.gather(store.nodes.identify(N1, same), store.nodes.identify(N2, same))
    assert sum(len(others) for others in found) == 1


async def test_class_release_and_image_are_recorded(store: Store) -> None:
    await add_nodes(store)
    await store.nodes.assign(N1, "hgx-h100", RELEASE)
    for _ in range(2):
        await store.nodes.observe_image(N1, "sha256:aa", minutes(3))
    now = await store.nodes.get(N1)
    assert (now.hardware_class, now.release, now.observed_image) == ("hgx-h100", RELEASE, "sha256:aa")
    assert [event.kind for event in await store.events.of(N1)] == [EventKind.DISCOVERED, EventKind.OBSERVED]


async def test_nodes_at_rest_are_not_active_and_held_ones_are(store: Store) -> None:
    at_rest = [State.READY, State.IN_PRODUCTION, State.MAINTENANCE, State.DECOMMISSIONED]
    await add_nodes(store, 6)
    nodes = await store.nodes.all()
    for seen, state in zip(nodes, at_rest, strict=False):
        await store.nodes.advance(seen, state, "done", START)
    await store.nodes.hold(nodes[4], a_hold())
    assert {one.name for one in await store.nodes.active()} == {nodes[4].name, nodes[5].name}
    counts = await store.nodes.counts()
    assert set(counts) == set(State)
    assert {state: count for state, count in counts.items() if count} == dict.fromkeys(
        [*at_rest, State.HELD, State.DISCOVERED], 1
    )


async def test_moments_keep_their_zone_and_microseconds(store: Store) -> None:
    seen = await add_nodes(store)
    paris = datetime(2026, 12, 1, 1, 30, 0, 1, tzinfo=timezone(timedelta(hours=1)))
    await store.nodes.advance(seen, State.IDENTIFIED, "next", paris)
    since = (await store.nodes.get(N1)).state_since
    assert since == paris
    assert since.utcoffset() == timedelta(0)


async def test_a_moment_without_a_zone_is_refused(store: Store) -> None:
    seen = await add_nodes(store)
    with pytest.raises(Exception, match="without a zone"):
        await store.nodes.advance(seen, State.IDENTIFIED, "next", datetime(2026, 12, 1))  # noqa: DTZ001 - the point
    assert (await store.nodes.get(N1)).state is State.DISCOVERED


async def test_history_is_paged_and_old_events_go_without_their_ids_coming_back(store: Store) -> None:
    await add_nodes(store)
    await walk(store, *[State.IDENTIFIED, State.SECURED] * 5)
    everything = await store.events.after(0)
    assert [event.id for event in everything] == sorted(event.id for event in everything)
    assert await store.events.after(everything[3].id, limit=2) == everything[4:6]
    own = [event for event in everything if event.node == N1]
    assert await store.events.of(N1, limit=3) == own[-3:]
    assert await delete_events(store.database, minutes(1), batch=1) == 2
    assert await store.events.after(0) == everything[2:]
    assert await delete_events(store.database, minutes(100), batch=3) == 10
    assert await store.events.after(0) == []
    await walk(store, State.INVENTORIED)
    assert (await store.events.after(0))[0].id > everything[-1].id


async def test_a_caller_that_is_cancelled_leaves_a_whole_change_that_is_told(url: str, cipher: Cipher) -> None:
    told = asyncio.Event()
    store = open_store(url, cipher, told.set)
    seen = await add_nodes(store)
    told.clear()
    move = asyncio.create_task(store.nodes.advance(seen, State.IDENTIFIED, "next", START))
    await asyncio.sleep(0)
    move.cancel()
    async with asyncio.timeout(5):
        await told.wait()
    assert (await store.nodes.get(N1)).state is State.IDENTIFIED
    store.close()


async def test_a_list_comes_page_by_page_by_place_whatever_is_asked_for(store: Store) -> None:
    await add_nodes(store, 40)
    everything = sorted(await store.nodes.all(), key=lambda one: (one.rack, one.position, one.name))
    for which in (Which(), Which(rack="r02"), Which(state=State.READY), Which(held=False), Which(held=True)):
        found: list[Node] = []
        after = None
        while page := await store.nodes.page(which, after, 7):
            found += page
            after = (page[-1].rack, page[-1].position, page[-1].name)
        assert found == [one for one in everything if which.fits(one)]
