"""Nobody else loses power: what an activation takes down beside its node is looked at before it begins."""

from collections.abc import Sequence
from datetime import timedelta

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import Activation, Domain
from provisioner.capabilities.world import World
from provisioner.firmware.domains import Neighbourhood, Reach
from provisioner.firmware.phase import IN_FLIGHT, Entry
from provisioner.firmware.plan import Stage, Update
from provisioner.models.identifiers import NodeName, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains
from provisioner.operations.firmware_people import neighbours, undeclared
from provisioner.operations.reach import release_of, tell, until

_LOOK_EVERY = timedelta(minutes=1)
_LIMIT = timedelta(hours=4)


async def await_neighbours(
    world: World, key: RunKey, entries: Sequence[Entry], activation: Activation, *, beyond_plan: bool = False
) -> None:
    """Until no node that goes down with this one is at work. Raises `NeedsPerson` at once for one in production.

    Nodes that wait for the same cut of power do not wait for each other. `beyond_plan`: more power goes than the
    catalog says, so that whoever shares its tray or chassis counts, too, where the expected list names them.
    """
    bundle = (await release_of(world, key.node)).firmware
    domains = _domains(bundle, entries)
    if beyond_plan:
        domains |= _boxes((await world.nodes.get(key.node)).domains)
    if not domains - {Domain.NODE}:
        return
    reach = Reach()

    async def free() -> bool:
        nonlocal reach
        reach = await _reach(world, key, _stage(entries, activation, domains))
        if reach.blocking:
            await tell(world, key, f"{activation} waits for {reach.blocking[0]}")
        return not reach.blocking or await _in_production(world, reach) or bool(reach.undeclared)

    await until(world.clock, free, every=_LOOK_EVERY, limit=_LIMIT)
    node = await world.nodes.get(key.node)
    if reach.undeclared:
        raise undeclared(node, activation, [str(one) for one in reach.undeclared])
    if reach.blocking:
        raise neighbours(node, activation, "; ".join(map(str, reach.blocking)))


async def _reach(world: World, key: RunKey, stage: Stage) -> Reach:
    nodes = await world.nodes.all()
    node = next(one for one in nodes if one.name == key.node)
    near = Neighbourhood(nodes).reach(stage, node).neighbours
    flashing: dict[NodeName, str] = {}
    for one in near:
        if any(entry.phase in IN_FLIGHT for entry in await world.journal.open(one.name)):
            flashing[one.name] = "is being flashed"
    return Neighbourhood(nodes, flashing).reach(stage, node)


async def _in_production(world: World, reach: Reach) -> bool:
    """That does not end by itself."""
    nodes = [await world.nodes.get(one.name) for one in reach.blocking]
    return any(State.IN_PRODUCTION in {node.state, node.held_from} for node in nodes)


def _domains(bundle: FirmwareBundle, entries: Sequence[Entry]) -> set[Domain]:
    names = {entry.what.component for entry in entries if entry.what.activation is not Activation.NONE}
    return {one.domain for one in bundle.components if one.component in names}


def _boxes(declared: Domains) -> set[Domain]:
    """What a box is in, as far as somebody has written it down."""
    named = ((Domain.TRAY, declared.tray), (Domain.CHASSIS, declared.chassis))
    return {domain for domain, name in named if name is not None}


def _stage(entries: Sequence[Entry], activation: Activation, domains: set[Domain]) -> Stage:
    """What waits, in the words of a plan."""
    what = entries[0].what
    update = Update(
        component=what.component,
        version=what.version,
        file="",
        digest=what.digest,
        targets=None,
        running=(),
        activation=activation,
        expected=timedelta(),
        domains=tuple(domains),
    )
    return Stage((update,), activation, timedelta())
