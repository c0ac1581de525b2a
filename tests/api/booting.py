"""A node that boots, and what its firmware says of itself."""

from datetime import UTC, datetime

from provisioner.models.boot import BootTicket
from provisioner.models.identifiers import RunKey
from provisioner.models.inventory import BootAbilities, Identity, Inventory, Power
from provisioner.models.lifecycle import State
from provisioner.operations.boot import open_ticket
from tests.api.site import N1, Site

UUID, SERIAL, MAC = "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b", "MX1201C4", "52:54:00:00:00:01"
SAID = f"uuid={UUID.upper()}&serial={SERIAL.lower()}&mac={MAC}&arch=x86_64"
INVENTORY = Inventory(
    identity=Identity(SERIAL, UUID, "Acme", "G8"),
    power=Power.ON,
    architecture="x86_64",
    processors=(),
    memory_gib=64.0,
    macs=(MAC,),
    firmware=(),
    boot=BootAbilities(("Pxe", "UefiHttp"), http_boot_uri=True),
    requests=1,
)


def ticket_of(site: Site) -> BootTicket:
    """Bring N1 to where it boots."""
    site.release()
    node = site.node()
    for state in (State.IDENTIFIED, State.SECURED, State.INVENTORIED, State.UPDATING_FIRMWARE):
        node = site.move(state)
    node = site.move(State.CONFIGURING_BIOS)
    node = site.move(State.BOOTING)
    site.run(site.store.nodes.identify(N1, INVENTORY.identity))
    site.run(site.store.documents.put_inventory(N1, INVENTORY, datetime.now(UTC)))
    site.run(open_ticket(site.service.world, RunKey("boot", N1, node.generation, node.attempt)))
    ticket = site.run(site.store.boots.latest(N1))
    assert ticket is not None
    return ticket


def latest(site: Site) -> BootTicket:
    """The ticket of N1 as it is now."""
    ticket = site.run(site.store.boots.latest(N1))
    assert ticket is not None
    return ticket
