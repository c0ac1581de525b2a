"""Which node has a port with this address: kept with its inventory, so that firmware that says no more is known."""

from collections.abc import Sequence

from sqlalchemy import Column, Connection, Index, Named, Table, Text, TypedColumns, delete, insert

from provisioner.models.identifiers import NodeName
from provisioner.placement.macs import canonical
from provisioner.store.columns import node_column
from provisioner.store.metadata import METADATA


class NodeMacColumns(TypedColumns):
    """One row per port. A card that was moved is in two inventories until both were read again."""

    mac: Named[str] = Column(Text, primary_key=True)
    node: Named[str] = node_column(primary_key=True)


NODE_MACS = Table("node_macs", METADATA, NodeMacColumns, Index(None, "node"))


def replace_macs(connection: Connection, *, node: NodeName, macs: Sequence[str]) -> None:
    """These are the node's addresses now; what is none is left out."""
    connection.execute(delete(NODE_MACS).where(NODE_MACS.c.node == node))
    known = sorted({mac for mac in map(canonical, macs) if mac})
    if known:
        connection.execute(insert(NODE_MACS), [{"mac": mac, "node": node} for mac in known])
