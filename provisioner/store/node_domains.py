"""What nodes share with others is what the expected list says, whenever it is read."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from provisioner.models.node import Domains, ExpectedNode
from provisioner.store.node_rows import domain_values
from provisioner.store.node_table import NODES

_KNOWN = select(NODES.c.name, NODES.c.domain_tray, NODES.c.domain_chassis, NODES.c.domain_power)
_CHANGE = (
    update(NODES)
    .where(NODES.c.name == bindparam("node"))
    .values({name: bindparam(f"new_{name}") for name in domain_values(Domains())})
)


def keep_domains(connection: Connection, *, nodes: Sequence[ExpectedNode]) -> None:
    """Write the domains of those nodes that have other ones, by name: two at once do not wait for each other."""
    known = {row[0]: Domains(*row[1:]) for row in connection.execute(_KNOWN)}
    changed = [
        {"node": one.name, **{f"new_{name}": value for name, value in domain_values(one.domains).items()}}
        for one in sorted(nodes, key=lambda one: one.name)
        if known.get(one.name, one.domains) != one.domains
    ]
    if changed:
        connection.execute(_CHANGE, changed)
