"""Storage: one controller with the NVMe drives."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, Entry, collection, links, resource
from emulator.tree.systems import SYSTEMS

_CONTROLLER = "NVMe"


def build(persona: Persona) -> Iterator[Entry]:
    """The controller and its drives."""
    system = persona.system
    path = f"{SYSTEMS}/{system.id}/Storage"
    yield collection(path, "StorageCollection", "Storage Collection", [_CONTROLLER])
    drives = [f"{path}/{_CONTROLLER}/Drives/{number}" for number in range(system.drives)]
    controller = {"Drives": links(drives), "Drives@odata.count": len(drives), "Status": HEALTHY}
    yield resource(f"{path}/{_CONTROLLER}", "Storage.v1_11_0.Storage", "NVMe Storage", controller)
    for number, drive in enumerate(drives):
        properties = {
            "MediaType": "SSD",
            "Protocol": "NVMe",
            "Model": system.drive_model,
            "CapacityBytes": system.drive_bytes,
            "SerialNumber": f"${{hex:drive {number}}}",
            "Status": HEALTHY,
        }
        yield resource(drive, "Drive.v1_13_0.Drive", f"NVMe Drive {number}", properties)
