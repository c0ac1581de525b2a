"""How every operation ends: the node moves on, is tried again later, or is held with an instruction."""

from datetime import timedelta

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import BadInput, BmcError, Conflict, NeedsPerson, NotAchieved, NotFound
from provisioner.lifecycle.table import RULES
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.operations.instructions import explain
from provisioner.operations.outcome import Operation

TRIES = 3
"""How often an operation may miss its aim before a person is asked."""

_WAIT = timedelta(minutes=1)


async def carry_out(durable: Durable, world: World, key: RunKey, operation: Operation) -> None:
    """Run an operation and record its end. Both engines call this and nothing else."""
    try:
        outcome = await operation(durable, world, key)
    except NeedsPerson as problem:
        i = problem.instruction
        instruction = [i.owner, i.where, i.what, i.done_when, i.part]
        await durable.step("hold", hold, world, key, problem.reason, instruction)
    except NotAchieved as problem:
        told = [type(problem).__name__, str(problem)]
        await durable.step("try_again", try_again, world, key, problem.message, told)
    except BmcError as problem:
        await durable.step("hold_for_bmc", hold_for_bmc, world, key, type(problem).__name__, str(problem))
    except (NotFound, Conflict, BadInput) as problem:
        told = [type(problem).__name__, str(problem)]
        await durable.step("try_again_later", try_again, world, key, str(problem), told)
    else:
        await durable.step("advance", advance, world, key, outcome.to, outcome.reason)


async def advance(world: World, key: RunKey, to: str, reason: str) -> bool:
    """Move on, if the node is still where this run found it."""
    node = await _mine(world, key)
    return node is not None and await world.nodes.advance(node, State(to), reason, world.clock.now())


async def hold(world: World, key: RunKey, reason: str, told: list[str | None]) -> bool:
    """Hold with the operation's own instruction."""
    owner, where, what, done_when, part = told
    instruction = Instruction(Owner(owner or ""), where or "", what or "", done_when or "", part)
    return await _hold(world, key, Hold(reason, instruction, world.clock.now()))


async def try_again(world: World, key: RunKey, message: str, told: list[str]) -> bool:
    """A new attempt after a while; a hold after the third miss. `told`: the error's class and its whole text."""
    node = await _mine(world, key)
    if node is None:
        return False
    now = world.clock.now()
    if node.failures + 1 >= TRIES:
        kind, text = told
        return await world.nodes.hold(node, explain(node, kind, text, now))
    wait = timedelta(seconds=world.clock.wall(_WAIT * 2**node.failures))
    return await world.nodes.failed(node, message, now, now + wait)


async def hold_for_bmc(world: World, key: RunKey, kind: str, message: str) -> bool:
    """Hold with the instruction for this kind of error."""
    node = await _mine(world, key)
    if node is None:
        return False
    hold_it = explain(node, kind, message, world.clock.now())
    return await world.nodes.hold(node, hold_it)


async def _hold(world: World, key: RunKey, hold_it: Hold) -> bool:
    node = await _mine(world, key)
    return node is not None and await world.nodes.hold(node, hold_it)


async def _mine(world: World, key: RunKey) -> Node | None:
    """The node, if this run is still the one that it waits for."""
    node = await world.nodes.get(key.node)
    current = (RULES[node.state].operation, node.generation, node.attempt)
    mine = current == (key.operation, key.generation, key.attempt) and node.hold is None
    return node if mine else None
