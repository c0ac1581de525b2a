"""What the database points to: images and firmware that nodes, channels or rollouts still need."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, func, or_, select
from sqlalchemy.exc import DBAPIError

from images.digest import Digest, DigestError, parse_digest
from images.oci.holdings import Pins, merged
from images.oci.pins import Pin, PinKind
from provisioner.errors import FirstlightError
from provisioner.rollout.pins import pinned
from provisioner.store.boot_tickets import BOOT_TICKETS
from provisioner.store.campaign_tables import CAMPAIGNS
from provisioner.store.channel_tables import CHANNELS, MOVEMENTS
from provisioner.store.database import Database
from provisioner.store.documents import RELEASES
from provisioner.store.node_table import NODES
from provisioner.store.promotion_tables import PROMOTIONS
from provisioner.store.rollout_tables import ROLLOUTS, TURNS
from provisioner.store.rollouts import SqlRollouts
from provisioner.store.urls import database_url

_LONGEST_RETENTION = timedelta(days=400)
"""Rollouts that ended longer ago are not read."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A column that names a release, or an image, which must be kept. `holder`: who, one of them stands for all."""

    kind: PinKind
    column: "Column[Any]"
    holder: "ColumnElement[Any]"
    which: "ColumnElement[bool] | None" = None


# Slots of nodes that no rollout has any more are kept by the rollout's retention.
RELEASE_POINTERS = (
    Pointer(PinKind.SLOT, NODES.c.release, NODES.c.name),
    Pointer(PinKind.SLOT, TURNS.c.active, TURNS.c.node, TURNS.c.holder.is_not(None)),
    Pointer(PinKind.SLOT, TURNS.c.blue, TURNS.c.node, TURNS.c.holder.is_not(None)),
    Pointer(PinKind.SLOT, TURNS.c.green, TURNS.c.node, TURNS.c.holder.is_not(None)),
    Pointer(PinKind.CHANNEL, CHANNELS.c.release, CHANNELS.c.channel),
    Pointer(PinKind.CHANNEL, PROMOTIONS.c.release, PROMOTIONS.c.id, PROMOTIONS.c.ended_at.is_(None)),
    Pointer(PinKind.RELEASE, CAMPAIGNS.c.digest, CAMPAIGNS.c.name, CAMPAIGNS.c.ended_at.is_(None)),
)
IMAGE_POINTERS = (
    Pointer(PinKind.BOOT, NODES.c.observed_image, NODES.c.name),
    Pointer(
        PinKind.BOOT,
        BOOT_TICKETS.c.image,
        BOOT_TICKETS.c.node,
        and_(BOOT_TICKETS.c.node == NODES.c.name, BOOT_TICKETS.c.generation == NODES.c.generation),
    ),
)


def database_pins(url: str, now: datetime) -> Pins:
    """All of it; none where there is no database yet. Blocks, and must not be called in an event loop.

    Raises `FirstlightError` when it cannot be read: nobody knows then what is needed.
    """
    address = database_url(url)
    if address.get_backend_name() == "sqlite" and not Path(str(address.database)).exists():
        return {}
    database = Database(address)
    try:
        return asyncio.run(_pins(database, now))
    except DBAPIError as error:
        raise FirstlightError(
            f"{address.render_as_string()}: what it points to cannot be read ({error.orig}); start the service "
            "once, so that the database is of this release, and try again"
        ) from error
    finally:
        database.close()


async def _pins(database: Database, now: datetime) -> Pins:
    by_release = dict(await database.read(_release_pins))
    for name in await database.read(lambda connection: _recent_rollouts(connection, now)):
        rollout = (await SqlRollouts(database).get(name)).rollout
        held = Pin(PinKind.ROLLOUT, name, f"{rollout.state}: where it goes to and comes from")
        by_release = dict(_more(by_release, ((digest, held) for digest in pinned(rollout, now))))
    images = await database.read(_image_pins)
    return await database.read(lambda connection: merged((images, *_of_releases(connection, by_release))))


def _release_pins(connection: Connection) -> Mapping[str, tuple[Pin, ...]]:
    found: Iterable[tuple[str, Pin]] = [
        *(one for pointer in RELEASE_POINTERS for one in _pointed(connection, pointer)),
        *_the_way_back(connection),
    ]
    return _more({}, found)


def _image_pins(connection: Connection) -> Pins:
    found = _more({}, (one for pointer in IMAGE_POINTERS for one in _pointed(connection, pointer)))
    return {digest: pins for text, pins in found.items() if (digest := _digest(text)) is not None}


def _pointed(connection: Connection, pointer: Pointer) -> Iterator[tuple[str, Pin]]:
    """One pin for all rows that name the same: a hundred thousand nodes have few releases."""
    column = pointer.column
    query: Select[Any] = select(column, func.min(pointer.holder), func.count()).where(column.is_not(None))
    if pointer.which is not None:
        query = query.where(pointer.which)
    for digest, holder, count in connection.execute(query.group_by(column)):
        more = f", and {count - 1} more" if count > 1 else ""
        yield digest, Pin(pointer.kind, str(holder), f"{column.table.name}.{column.name}{more}")


def _the_way_back(connection: Connection) -> Iterator[tuple[str, Pin]]:
    """What each channel was before: a rollback goes there."""
    rows = connection.execute(
        select(MOVEMENTS.c.channel, MOVEMENTS.c.release)
        .join(
            CHANNELS,
            and_(
                CHANNELS.c.channel == MOVEMENTS.c.channel,
                CHANNELS.c.hardware_class == MOVEMENTS.c.hardware_class,
                MOVEMENTS.c.revision == CHANNELS.c.revision - 1,
            ),
        )
        .order_by(MOVEMENTS.c.channel)
    )
    for channel, release in rows:
        yield release, Pin(PinKind.CHANNEL, channel, "what it was before; a rollback goes there")


def _recent_rollouts(connection: Connection, now: datetime) -> list[str]:
    closed = ROLLOUTS.c.closed_at
    recent = or_(closed.is_(None), closed > now - _LONGEST_RETENTION)
    return list(connection.scalars(select(ROLLOUTS.c.name).where(recent)))


def _of_releases(connection: Connection, by_release: Mapping[str, tuple[Pin, ...]]) -> Iterator[Pins]:
    """The image and the firmware of each release. One that the database does not hold is none of an image here."""
    for digest, pins in by_release.items():
        document = connection.scalar(select(RELEASES.c.document).where(RELEASES.c.digest == digest))
        if document is None:
            continue
        release = json.loads(document)
        if (image := _digest(release["image_digest"])) is not None:
            yield {image: pins}
        firmware = Pin(PinKind.FIRMWARE, release["name"], f"{pins[0].label} has it")
        for package in _packages(release["firmware"]):
            yield {package: (firmware,)}


def _packages(found: object) -> Iterator[Digest]:
    """Every file that a bundle names, those on the way to its versions too."""
    if isinstance(found, list):
        for one in found:
            yield from _packages(one)
    elif isinstance(found, dict):
        digest = _digest(f"sha256:{found.get('sha256')}")
        if digest is not None:
            yield digest
        for one in found.values():
            yield from _packages(one)


def _more(before: Mapping[str, tuple[Pin, ...]], found: Iterable[tuple[str, Pin]]) -> Mapping[str, tuple[Pin, ...]]:
    pins = dict(before)
    for digest, held in found:
        pins[digest] = (*pins.get(digest, ()), held)
    return pins


def _digest(text: str) -> Digest | None:
    """None for what cannot name a file of the store."""
    try:
        return parse_digest(text)
    except DigestError:
        return None
