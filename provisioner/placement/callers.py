"""Is firmware that came through a node's port the node's? Pure."""

from provisioner.models.boot import Caller
from provisioner.models.node import Node
from provisioner.placement import serials


def is_said_by(node: Node, caller: Caller) -> bool:
    """The caller says the node's UUID or serial number, or has neither to say: boards leave the factory without.

    A card that was moved to another server says what that server is, and is not taken for the node that it came from.
    """
    has_uuid, has_serial = not serials.is_placeholder_uuid(caller.uuid), not serials.is_placeholder(caller.serial)
    if not (has_uuid or has_serial):
        return True
    if has_uuid and node.uuid is not None and node.uuid.strip().lower() in serials.uuid_forms(caller.uuid):
        return True
    return has_serial and node.serial is not None and serials.same(node.serial, caller.serial)
