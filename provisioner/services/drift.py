"""The drift watch: reads a few firmware inventories, then holds all that it knows against the bundles. Never acts."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from provisioner.capabilities.drift import Drift
from provisioner.capabilities.world import World
from provisioner.drift import Sighting, drift, is_settled, versions_of
from provisioner.errors import FirstlightError
from provisioner.models.drift import FirmwareReading
from provisioner.models.identifiers import NodeName
from provisioner.models.node import Node
from provisioner.operations.reach import bmc_of

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rate:
    """How often each node is read, and how often somebody looks whose turn it is. Real time."""

    every: timedelta = timedelta(days=1)
    passes: timedelta = timedelta(minutes=1)


async def watch_once(world: World, records: Drift, rate: Rate) -> None:
    """One pass: read those whose turn it is, one after the other, then compare all and let the findings stand."""
    nodes = [node for node in await world.nodes.all() if is_settled(node)]
    for node in due(nodes, await records.tried(), world.clock.now(), rate):
        await _read(world, records, node)
    found = await asyncio.to_thread(drift, await _sightings(world, records))  # long for ten thousand nodes
    new, gone = await records.stand(found, world.clock.now())
    if new or gone:
        _log.info("drift_changed", findings=len(found), new=new, gone=gone)


def due(
    nodes: Sequence[Node], tried: Sequence[tuple[NodeName, int, datetime]], now: datetime, rate: Rate
) -> Sequence[Node]:
    """Those to read in this pass: never read in this generation first, then the longest unread.

    As many as bring each node its turn once in `rate.every`, so that they are spread over it evenly; held ones are left
    alone, for a BMC may be what holds them. Pure.
    """
    known = {name: (generation, at) for name, generation, at in tried}
    free = [node for node in nodes if node.hold is None]
    room = math.ceil(len(free) * (rate.passes / rate.every))
    waiting = [node for node in free if _is_due(node, known, now - rate.every)]
    return sorted(waiting, key=lambda node: _turn(node, known, now))[:room]


def _is_due(node: Node, known: Mapping[NodeName, tuple[int, datetime]], before: datetime) -> bool:
    generation, at = known.get(node.name, (None, before))
    return generation != node.generation or at <= before


def _turn(node: Node, known: Mapping[NodeName, tuple[int, datetime]], now: datetime) -> tuple[bool, datetime, NodeName]:
    generation, at = known.get(node.name, (None, now))
    return generation == node.generation, at, node.name


async def _read(world: World, records: Drift, node: Node) -> None:
    """What cannot be read now is tried again at its next turn; that a BMC is silent is told elsewhere."""
    if node.release is None:
        return
    await records.try_(node.name, node.generation, world.clock.now())
    try:
        bundle = (await world.documents.release(node.release)).firmware
        async with bmc_of(world, node.name) as bmc:
            inventory = await bmc.firmware()
    except FirstlightError as error:
        _log.info("firmware_not_read", node=node.name, error=str(error))
        return
    after = await world.nodes.get(node.name)
    if after.generation == node.generation and is_settled(after):
        versions = versions_of(bundle, inventory)
        await records.read(FirmwareReading(node.name, node.generation, world.clock.now(), versions))


async def _sightings(world: World, records: Drift) -> Sequence[Sighting]:
    nodes = {node.name: node for node in await world.nodes.all()}
    found = []
    for reading in await records.readings():
        node = nodes.get(reading.node)
        if node is not None and node.release is not None and reading.generation == node.generation:
            release = await world.documents.release(node.release)
            hardware = release.hardware_class
            spans = int(hardware.nvlink_domain_size) > int(hardware.gpu_count)
            found.append(Sighting(node, release.firmware, spans, reading.versions))
    return found
