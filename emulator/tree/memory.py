"""Memory: the DIMMs."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, Entry, collection, resource
from emulator.tree.systems import SYSTEMS, system_ids


def build(persona: Persona) -> Iterator[Entry]:
    """The DIMMs of each system."""
    system = persona.system
    for identity in system_ids(persona):
        path = f"{SYSTEMS}/{identity}/Memory"
        modules = [f"DIMM{number}" for number in range(1, system.dimms + 1)]
        yield collection(path, "MemoryCollection", "Memory Collection", modules)
        for module in modules:
            properties = {
                "MemoryType": "DRAM",
                "CapacityMiB": system.memory_gib * 1024 // system.dimms,
                "SerialNumber": f"${{hex:{module}}}",
                "DeviceLocator": module,
                "Status": HEALTHY,
            }
            yield resource(f"{path}/{module}", "Memory.v1_14_0.Memory", "Memory", properties)
