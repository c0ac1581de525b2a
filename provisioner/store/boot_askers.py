"""Who asks what to boot: the node and its newest ticket in one look, so that both are of the same moment.

The statements are made once, as thousands of servers may ask at once; each finds its row by an index.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, and_, bindparam, exists, or_, select

from provisioner.capabilities.cipher import Cipher
from provisioner.models.boot import Asker
from provisioner.models.secret import Secret
from provisioner.placement.macs import canonical
from provisioner.placement.serials import uuid_forms
from provisioner.store.boot_tickets import BOOT_TICKETS, ticket_of
from provisioner.store.database import Database
from provisioner.store.hashes import sha256
from provisioner.store.node_macs import NODE_MACS
from provisioner.store.node_rows import NODE_COLUMNS, node
from provisioner.store.node_table import NODES

_KEYED = BOOT_TICKETS.alias("keyed")
_NEWER, _LATEST = BOOT_TICKETS.alias("newer").c, BOOT_TICKETS.c
_IS_LATEST = ~exists().where(
    _NEWER.node == _LATEST.node,
    or_(
        _NEWER.generation > _LATEST.generation,
        and_(_NEWER.generation == _LATEST.generation, _NEWER.attempt > _LATEST.attempt),
    ),
)
_ASKERS = (
    select(*NODE_COLUMNS, *BOOT_TICKETS.c)
    .select_from(NODES.outerjoin(BOOT_TICKETS, and_(_LATEST.node == NODES.c.name, _IS_LATEST)))
    .limit(2)
)
_TICKET = len(NODE_COLUMNS)
"""Where the ticket's columns begin."""

_BY_KEY = _ASKERS.where(
    NODES.c.name == select(_KEYED.c.node).where(_KEYED.c.key_hash == bindparam("key_hash")).scalar_subquery()
)
_BY_IDENTITY = _ASKERS.where(
    NODES.c.serial_key == bindparam("serial"), NODES.c.uuid_key.in_([bindparam("uuid"), bindparam("turned")])
)
_BY_PORT = _ASKERS.where(NODES.c.name.in_(select(NODE_MACS.c.node).where(NODE_MACS.c.mac == bindparam("mac"))))


class SqlBootAskers:
    """The part of `Boots` that finds who asks."""

    def __init__(self, database: Database, cipher: Cipher) -> None:
        """Reads `database`; `cipher` opens what is told on."""
        self._database = database
        self._cipher = cipher

    async def by_key(self, key: Secret) -> Asker | None:
        """Whose boot has this key, an old one too."""
        return await self._one(_BY_KEY, {"key_hash": sha256(key)})

    async def by_identity(self, serial: str, uuid: str) -> Asker | None:
        """The one node with this serial number and this UUID; None when there is none, or more than one."""
        serial_key, forms = serial.strip().lower(), uuid_forms(uuid)
        if not (serial_key and forms[0]):
            return None
        said = {"serial": serial_key, "uuid": forms[0], "turned": forms[-1]}
        return await self._one(_BY_IDENTITY, said)

    async def by_port(self, mac: str) -> Asker | None:
        """The one node with this port in its last inventory; None when there is none, or more than one."""
        wanted = canonical(mac)
        return await self._one(_BY_PORT, {"mac": wanted}) if wanted else None

    async def _one(self, statement: Select[Any], said: Mapping[str, Any]) -> Asker | None:
        rows = await self._database.read_row(lambda connection: connection.execute(statement, said).all())
        if len(rows) != 1:
            return None
        row = rows[0]
        latest = None if row[_TICKET] is None else ticket_of(row[_TICKET:], self._cipher)
        return Asker(node(row), latest)
