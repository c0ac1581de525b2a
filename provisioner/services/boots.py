"""What a node's firmware may ask: what do I boot now?"""

from provisioner.boot.answer import BootImage, LeaveNetworkBoot, answer
from provisioner.capabilities.world import World
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from provisioner.placement import serials


async def by_key(world: World, key: Secret) -> BootImage | LeaveNetworkBoot:
    """Firmware that was given a boot URI through its BMC."""
    ticket = await world.boots.by_key(key)
    node = await world.nodes.get(ticket.node) if ticket else None
    latest = await world.boots.latest(ticket.node) if ticket else None
    if ticket is not None and latest is not None and latest.key != ticket.key:
        return LeaveNetworkBoot("a newer boot permission has replaced this one")
    return await _answer(world, node)


async def by_identity(world: World, *, uuid: str, serial: str) -> BootImage | LeaveNetworkBoot:
    """Firmware that found us by PXE: SMBIOS UUID and serial number, as it says itself. Both have to be the node's."""
    node = next((one for one in await world.nodes.all() if _is(one, uuid, serial)), None)
    return await _answer(world, node)


async def _answer(world: World, node: Node | None) -> BootImage | LeaveNetworkBoot:
    ticket = await world.boots.latest(node.name) if node else None
    decided = answer(node, ticket)
    if isinstance(decided, BootImage):
        await world.boots.served(decided.ticket)
    return decided


def _is(node: Node, uuid: str, serial: str) -> bool:
    if node.uuid is None or node.serial is None:
        return False
    return serials.same(node.uuid, uuid) and serials.same(node.serial, serial)
