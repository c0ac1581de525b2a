"""A lost feed, as the supplies behind it show it: no input, and less redundancy for the machine."""

from emulator.machine.machine import Machine
from emulator.machine.power_feeds import feed_of
from emulator.tree import places
from emulator.tree.document import Document


def show(machine: Machine, path: str, document: Document) -> None:
    """Write what the loss of a feed changes into the resource at `path`."""
    persona = machine.board.persona
    dead = [number for number in range(persona.supplies.count) if feed_of(number) in machine.board.lost_feeds]
    if not dead:
        return
    units = places.supplies(persona)
    if path in units and units.index(path) in dead:
        document["LineInputStatus"] = "LossOfInput"
        document["Status"] = {**document["Status"], "Health": "Critical"}
    elif path == f"{places.outer(persona)}/Power":
        for number in dead:
            document["PowerSupplies"][number]["Status"] = {"State": "Enabled", "Health": "Critical"}
    for group in (*document.get("PowerSupplyRedundancy", ()), *document.get("Redundancy", ())):
        if "PowerSupplies" in str(group):
            group["Status"] = {"State": "Enabled", "Health": "Warning"}
    if path in (places.host(persona), places.outer(persona)) and "HealthRollup" in document.get("Status", {}):
        document["Status"] = {**document["Status"], "HealthRollup": "Warning"}
