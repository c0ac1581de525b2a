"""discovered -> identified: which server is this?"""

from collections.abc import Sequence

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import NeedsPerson
from provisioner.models.identifiers import NodeName, RunKey
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.operations.outcome import Outcome
from provisioner.operations.reach import bmc_of, tell
from provisioner.operations.secure import set_password
from provisioner.placement import serials

_UNTOUCHABLE = frozenset({State.IN_PRODUCTION, State.MAINTENANCE, State.DECOMMISSIONING, State.DECOMMISSIONED})


async def identify(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Log in, read who it says it is, and compare that with the plan and with every other server.

    Some BMCs (OpenBMC) say nothing before their factory password has been changed.
    """
    serial = await durable.step("read_identity", read_identity, world, key)
    if not serial:
        await durable.step("set_required_password", set_password, world, key)
        serial = await durable.step("read_identity_again", read_identity, world, key)
    return Outcome(State.IDENTIFIED, f"its BMC answers and says serial {serial}")


async def read_identity(world: World, key: RunKey) -> str:
    """The serial, once it is beyond doubt; "" when the password must be changed first.

    Two servers with one serial are never merged: both are held.
    """
    await tell(world, key, "asking the BMC which server this is")
    async with bmc_of(world, key.node) as bmc:
        if bmc.must_change_password:
            return ""
        identity = await bmc.identity()
    node = await world.nodes.get(key.node)
    _refuse_placeholder(node, identity)
    twins = await _twins_of(world, identity, await world.nodes.identify(key.node, identity))
    if twins:
        await _hold_twins(world, node, twins, identity)
    _refuse_wrong_server(node, identity)
    return identity.serial


def _refuse_placeholder(node: Node, identity: Identity) -> None:
    if not serials.is_placeholder(identity.serial):
        return
    raise NeedsPerson(
        f'the server reports the placeholder "{identity.serial}" as its serial number',
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="have the serial number of its label written into the board (vendor tool, FRU or SMBIOS), "
            f"then: firstlight node release {node.name}",
            done_when="the BMC reports the serial number that is on the label",
        ),
    )


async def _twins_of(world: World, me: Identity, names: Sequence[NodeName]) -> Sequence[NodeName]:
    """Those that count: boards may share a placeholder UUID, and a node that is gone may have left its board."""
    twins = [await world.nodes.get(name) for name in names]
    return [twin.name for twin in twins if twin.state is not State.DECOMMISSIONED and _is_twin(twin, me)]


def _is_twin(twin: Node, me: Identity) -> bool:
    return serials.same(twin.serial or "", me.serial) or not serials.is_placeholder_uuid(me.uuid)


async def _hold_twins(world: World, node: Node, twins: Sequence[NodeName], me: Identity) -> None:
    for twin_name in twins:
        while not await _hold_twin(world, await world.nodes.get(twin_name), node, me):
            continue  # it has moved since it was read
    raise _twins(node, twins, me)


async def _hold_twin(world: World, twin: Node, node: Node, me: Identity) -> bool:
    """False when it has to be read again. A hold that would end by itself is replaced."""
    if twin.state in _UNTOUCHABLE or (twin.hold is not None and twin.hold.retry_at is None):
        return True
    problem = _twins(twin, [node.name], me)
    if twin.hold is None and twin.state is not State.DISCOVERED:
        # What it was identified as is in doubt: a person who releases it has it identified anew.
        await world.nodes.advance(twin, State.DISCOVERED, problem.reason, world.clock.now())
        return False
    return await world.nodes.hold(twin, Hold(problem.reason, problem.instruction, world.clock.now()))


def _twins(node: Node, twins: Sequence[NodeName], identity: Identity) -> NeedsPerson:
    names = ", ".join(twins)
    return NeedsPerson(
        f"serial {identity.serial} or UUID {identity.uuid} is also reported by {names}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what=f"compare the labels of {node.name} and {names}: one BMC address may be listed twice, or a board "
            f"carries another one's number; correct it, then: firstlight node release {node.name}",
            done_when="no two servers report the same serial number or UUID",
        ),
    )


def _refuse_wrong_server(node: Node, identity: Identity) -> None:
    if node.expected_serial is None or serials.same(node.expected_serial, identity.serial):
        return
    raise NeedsPerson(
        f"the plan has serial {node.expected_serial} here, the server says {identity.serial}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what=f"put the server with serial {node.expected_serial} into this place, or have the plan corrected, "
            f"then: firstlight node release {node.name}",
            done_when=f"the BMC at {node.bmc} reports serial {node.expected_serial}",
        ),
    )
