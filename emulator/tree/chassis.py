"""Chassis: the box and what is in it."""

from collections.abc import Iterator

from emulator.persona.hardware import ChassisPart
from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, ROOT, Document, Entry, collection, link, links, resource

CHASSIS = f"{ROOT}/Chassis"


def build(persona: Persona) -> Iterator[Entry]:
    """The chassis."""
    yield collection(CHASSIS, "ChassisCollection", "Chassis Collection", [part.id for part in persona.chassis])
    for part in persona.chassis:
        properties = _properties(persona, part)
        yield resource(f"{CHASSIS}/{part.id}", "Chassis.v1_14_0.Chassis", part.id, properties)


def _properties(persona: Persona, part: ChassisPart) -> Document:
    system = persona.system
    outer = persona.chassis[0]
    inner = [one.id for one in persona.chassis[1:] if (one.inside or outer.id) == part.id]
    return {
        "ChassisType": part.type,
        "Manufacturer": system.manufacturer,
        "Model": part.model,
        "PartNumber": system.part_number,
        "SerialNumber": "${serial}" if part == outer else f"${{serial}}-{part.id}",
        "UUID": f"${{uuid:chassis {part.id}}}",
        "PowerState": "Off",
        "Status": HEALTHY,
        "Links": {
            **({"ComputerSystems": links([f"{ROOT}/Systems/{system.id}"])} if part == outer else {}),
            "ManagedBy": links([f"{ROOT}/Managers/{persona.bmc.id}"]),
            **({"Contains": links(f"{CHASSIS}/{one}" for one in inner)} if inner else {}),
            **({"ContainedBy": link(f"{CHASSIS}/{part.inside or outer.id}")} if part != outer else {}),
        },
    }
