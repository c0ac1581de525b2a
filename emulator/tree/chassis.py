"""Chassis: the box and what is in it."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.boxes import Box, boxes
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.gauges import gauges
from emulator.tree.pcie import devices
from emulator.tree.places import CHASSIS


def build(persona: Persona) -> Iterator[Entry]:
    """The chassis; what is below them has builders of its own."""
    found = boxes(persona)
    yield collection(CHASSIS, "ChassisCollection", "Chassis Collection", [box.path for box in found])
    for box in found:
        yield resource(box.path, "Chassis.v1_26_0.Chassis", box.name, _properties(persona, box, found))


def _properties(persona: Persona, box: Box, found: tuple[Box, ...]) -> Document:
    outer = box.path == places.outer(persona)
    return {
        "ChassisType": box.type,
        "Manufacturer": box.manufacturer,
        "Model": box.model,
        **({"PartNumber": box.part_number} if box.part_number else {}),
        **({"SKU": box.part_number} if box.part_number and outer else {}),
        "SerialNumber": box.serial,
        "UUID": f"${{uuid:chassis {box.path.rsplit('/', 1)[-1]}}}",
        "AssetTag": None,
        "LocationIndicatorActive": False,
        **_watts(persona, outer=outer),
        "PowerState": "Off",
        "Status": {**HEALTHY, "HealthRollup": "OK"},
        **_place(box),
        **box.properties,
        **{name: link(f"{box.path}/{name}") for name in _parts(persona, box)},
        "Links": _links(persona, box, found),
    }


def _watts(persona: Persona, *, outer: bool) -> Document:
    if not outer:
        return {}
    physics = persona.physics
    return {"MaxPowerWatts": physics.highest_limit_watts, "MinPowerWatts": physics.idle_watts}


def _place(box: Box) -> Document:
    if box.label is None:
        return {}
    kind = "Embedded" if box.processors else "Slot"
    return {"Location": {"PartLocation": {"LocationType": kind, "ServiceLabel": box.label}}}


def _parts(persona: Persona, box: Box) -> list[str]:
    """The names of what hangs on a chassis, each a property and the end of a path."""
    physics, outer = persona.physics, box.path == places.outer(persona)
    drives = places.drives(persona)
    listed = [f"{CHASSIS}/{part.id}" for part in persona.chassis]
    there = {
        "Sensors": any(gauge.chassis == box.path for gauge in gauges(persona).values()),
        "EnvironmentMetrics": outer or (bool(box.processors) and box.path not in listed),
        "Power": outer and physics.legacy,
        "Thermal": outer and physics.legacy,
        "PowerSubsystem": outer and physics.subsystems,
        "ThermalSubsystem": outer and physics.subsystems,
        "Controls": outer,
        "Assembly": outer or box.path == f"{CHASSIS}/{places.gpu_board(persona).id}",
        "LeakDetectors": outer and bool(physics.leak_detectors),
        "NetworkAdapters": outer and bool(persona.adapters),
        "PCIeDevices": bool(devices(persona).get(box.path)),
        "PCIeSlots": outer and any(adapter.slot is not None for adapter in persona.adapters),
        "Drives": bool(drives) and drives[0].startswith(f"{box.path}/Drives/"),
    }
    return [name for name, is_there in there.items() if is_there]


def _links(persona: Persona, box: Box, found: tuple[Box, ...]) -> Document:
    inner = [one.path for one in found if one.inside == box.path]
    managers = [manager for manager, holder in _managers(persona).items() if holder == box.path]
    drives = [drive for drive in places.drives(persona) if drive.startswith(f"{box.path}/")]
    storage = [f"{places.host(persona)}/Storage/{persona.system.storage_id}"]
    return {
        "ComputerSystems": links([box.system]),
        "ManagedBy": links([box.manager]),
        **({"ManagersInChassis": links(managers)} if managers else {}),
        **({"Contains": links(inner)} if inner else {}),
        **({"ContainedBy": link(box.inside)} if box.inside else {}),
        **({"Processors": links(box.processors)} if box.processors else {}),
        **({"Switches": links(box.switches)} if box.switches else {}),
        **({"Drives": links(drives), "Storage": links(storage)} if drives else {}),
    }


def _managers(persona: Persona) -> dict[str, str]:
    outer = persona.chassis[0].id
    found = {places.bmc(persona): f"{CHASSIS}/{persona.bmc.inside or outer}"}
    if persona.baseboard_bmc:
        board = persona.baseboard_bmc.inside or places.gpu_board(persona).id
        found[places.gpu_manager(persona)] = f"{CHASSIS}/{board}"
    return found
