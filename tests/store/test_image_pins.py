"""What the database points to is pinned, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from images.digest import Digest, digest_of
from images.oci.holdings import Pins
from provisioner.errors import FirstlightError
from provisioner.models.channel import Channel
from provisioner.models.identifiers import ReleaseDigest
from provisioner.rollout.kept import Kept
from provisioner.store.campaign_tables import CAMPAIGNS
from provisioner.store.channel_tables import MOVEMENTS
from provisioner.store.channels import move
from provisioner.store.columns import UtcDateTime
from provisioner.store.documents import RELEASES
from provisioner.store.image_pins import IMAGE_POINTERS, RELEASE_POINTERS, database_pins
from provisioner.store.node_table import NODES
from provisioner.store.opening import Store
from provisioner.store.rollout_documents import head_json
from provisioner.store.rollout_tables import ROLLOUTS, TURNS
from provisioner.store.schema import TABLES
from tests.promotion.samples import a_release
from tests.rollout.site import SPEC, started, units_of
from tests.store.nodes import N1, START, add_nodes, minutes
from tests.store.test_channels import H100, movement

IMAGES = {mark: digest_of(mark.encode()) for mark in "abcdef"}
HISTORY = {
    "channel_movements.release": "the one before the present is a pin of its own",
    "promotions.release": "pinned while the promotion is open",
    "rejected_releases.release": "it is not to be offered again",
    "campaigns.release": "a name; its digest is pinned",
    "rollouts.release": "pinned from the plan, until its retention is over",
    "soaks.release": "a count",
    "node_soaks.release": "a count",
    "boot_tickets.booted_image": "what a node said; it is in nodes.observed_image",
    "node_turns.came_from": "pinned by its rollout",
}


async def put(store: Store, *marks: str) -> list[ReleaseDigest]:
    """Releases that have nothing in common but their firmware."""
    found = []
    for mark in marks:
        release = a_release(mark).model_copy(update={"image_digest": IMAGES[mark]})
        await store.documents.put_release(release)
        found.append(ReleaseDigest(release.digest))
    return found


async def pins(url: str) -> Pins:
    return await asyncio.to_thread(database_pins, url, START)


async def labels(url: str) -> dict[Digest, list[str]]:
    """Of images alone."""
    found = await pins(url)
    return {one: [pin.label for pin in found[one]] for one in IMAGES.values() if one in found}


async def test_a_node_a_channel_and_what_it_was_before_hold(store: Store, url: str) -> None:
    await add_nodes(store)
    of_node, first, second, third = await put(store, "a", "b", "c", "d")
    await put(store, "e")
    place = (Channel.CANARY, H100)
    await store.database.write(lambda connection: connection.execute(update(NODES).values(release=of_node)))
    for revision, release in enumerate((first, second, third), 1):
        await store.database.write(partial(move, place=place, movement=movement(revision, release)))
    assert await labels(url) == {
        IMAGES["a"]: ["slot r01-u01"],
        IMAGES["c"]: ["channel canary"],
        IMAGES["d"]: ["channel canary"],
    }
    assert [one.reason for one in (await pins(url))[IMAGES["a"]]] == ["nodes.release, and 1 more"]


async def test_slots_what_nodes_run_and_what_they_are_to_boot_hold(store: Store, url: str) -> None:
    await add_nodes(store)
    active, blue, green = await put(store, "a", "b", "c")
    turn = {
        "node": N1,
        "holder": "r1",
        "epoch": 1,
        "effect": "",
        "cordoned": False,
        "active": active,
        "blue": blue,
        "green": green,
    }
    await store.database.write(lambda connection: connection.execute(insert(TURNS).values(turn)))
    await store.nodes.observe_image(N1, IMAGES["d"], minutes(1))
    observed = {IMAGES["d"]: ["boot r01-u01"]}
    assert await labels(url) == {**{IMAGES[mark]: ["slot r01-u01"] for mark in "abc"}, **observed}
    await store.database.write(lambda connection: connection.execute(update(TURNS).values(holder=None)))
    assert await labels(url) == observed, "the rollout's retention has them then"


async def test_a_release_holds_its_firmware_packages(store: Store, url: str) -> None:
    await add_nodes(store)
    (release,) = await put(store, "a")
    await store.database.write(lambda connection: connection.execute(update(NODES).values(release=release)))
    packages = {f"sha256:{one.artefact.sha256}" for one in a_release("a").firmware.components}
    assert packages
    assert packages <= set(await pins(url))


async def test_a_campaign_holds_until_its_end(store: Store, url: str) -> None:
    (release,) = await put(store, "a")
    row = {
        "name": "c1",
        "release": "a",
        "digest": release,
        "hardware_class": H100,
        "per_rack": 1,
        "per_site": 1,
        "canaries": 1,
        "ready_within_seconds": 1.0,
        "who": "ann",
        "started_at": START,
        "state": "running",
        "why": "",
        "revision": 1,
    }
    await store.database.write(lambda connection: connection.execute(insert(CAMPAIGNS).values(row)))
    assert await labels(url) == {IMAGES["a"]: ["release c1"]}
    await store.database.write(lambda connection: connection.execute(update(CAMPAIGNS).values(ended_at=START)))
    assert await labels(url) == {}


async def test_a_rollout_holds_old_and_new_until_its_retention_is_over(store: Store, url: str) -> None:
    old, new = await put(store, "a", "b")
    units = [replace(unit, release=old) for unit in units_of(2)]
    rollout = started(units, replace(SPEC, from_release=old, to_release=new))
    await store.rollouts.add(Kept(rollout, "ann", START, {}))
    name = f"rollout {rollout.plan.spec.name}"
    assert await labels(url) == {IMAGES["a"]: [name], IMAGES["b"]: [name]}
    ended = update(ROLLOUTS).values(closed_at=START, head=head_json(replace(rollout, closed_at=START)))
    await store.database.write(lambda connection: connection.execute(ended))
    assert set(await labels(url)) == {IMAGES["a"], IMAGES["b"]}
    over = START + rollout.plan.spec.retention
    assert IMAGES["a"] not in await asyncio.to_thread(database_pins, url, over)


async def test_without_a_database_nothing_is_pinned(tmp_path: Path) -> None:
    assert database_pins(f"sqlite:///{tmp_path}/none.db", START + timedelta(days=1)) == {}
    assert not list(tmp_path.iterdir())


def test_a_database_of_another_release_is_refused(empty_url: str) -> None:
    if empty_url.startswith("sqlite"):
        Path(empty_url.removeprefix("sqlite:///")).touch()
    with pytest.raises(FirstlightError, match="what it points to cannot be read"):
        database_pins(empty_url, START)


def test_no_pointer_is_forgotten() -> None:
    """A new column that names a release or an image is a pin, or stands in HISTORY with the reason why not."""
    words = ("release", "image", "slot", "blue", "green", "active", "came_from")
    named = {
        f"{table.name}.{column.name}"
        for table in TABLES
        if table is not RELEASES
        for column in table.columns
        if not isinstance(column.type, UtcDateTime)
        and (any(word in column.name for word in words) or column.references(RELEASES.c.digest))
    }
    pinned = {f"{one.column.table.name}.{one.column.name}" for one in (*RELEASE_POINTERS, *IMAGE_POINTERS)}
    assert named - pinned - HISTORY.keys() == set()
    assert MOVEMENTS.name in {one.partition(".")[0] for one in HISTORY}
    assert f"{ROLLOUTS.name}.release" in HISTORY
