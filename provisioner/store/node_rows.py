"""Nodes to rows and back."""

from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.models.instruction import Hold
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, Domains, ExpectedNode, Node
from provisioner.store.columns import AnyRow
from provisioner.store.node_table import NODES

_HOLD: TypeAdapter[Hold] = TypeAdapter(Hold)

NODE_COLUMNS = tuple(column for column in NODES.c if column.name not in ("visited", "serial_key", "uuid_key"))


def node(row: AnyRow) -> Node:
    """The node in a row of `NODE_COLUMNS`."""
    return Node(
        name=NodeName(row[0]),
        rack=RackName(row[1]),
        position=row[2],
        bmc=BmcAddress(row[3], row[4]),
        state=State(row[5]),
        state_since=row[6],
        generation=row[7],
        attempt=row[8],
        failures=row[9],
        retry_at=row[10],
        expected_serial=row[11],
        serial=row[12],
        uuid=row[13],
        manufacturer=row[14],
        model=row[15],
        hardware_class=row[16],
        release=None if row[17] is None else ReleaseDigest(row[17]),
        observed_image=row[18],
        hold=None if row[19] is None else _HOLD.validate_json(row[19]),
        held_from=None if row[20] is None else State(row[20]),
        domains=Domains(row[21], row[22], row[23]),
    )


def new_row(expected: ExpectedNode, at: datetime) -> dict[str, Any]:
    """The row of a node that nobody has seen yet."""
    return {
        "name": expected.name,
        "rack": expected.rack,
        "position": expected.position,
        "bmc_host": expected.bmc.host,
        "bmc_port": expected.bmc.port,
        "state": State.DISCOVERED.value,
        "state_since": at,
        "generation": 1,
        "attempt": 1,
        "failures": 0,
        "expected_serial": expected.serial,
        "visited": State.DISCOVERED.value,
        **domain_values(expected.domains),
    }


def domain_values(domains: Domains) -> dict[str, str | None]:
    """As kept in the row."""
    return {"domain_tray": domains.tray, "domain_chassis": domains.chassis, "domain_power": domains.power}


def hold_json(hold: Hold) -> str:
    """As kept in the row."""
    return _HOLD.dump_json(hold).decode()
