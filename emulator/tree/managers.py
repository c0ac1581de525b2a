"""Managers: the BMC and its network."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree.chassis import CHASSIS
from emulator.tree.document import HEALTHY, ROOT, Entry, action, collection, link, links, resource

MANAGERS = f"{ROOT}/Managers"
_PORT = "1"


def build(persona: Persona) -> Iterator[Entry]:
    """The manager and its port."""
    path = f"{MANAGERS}/{persona.bmc.id}"
    ports = f"{path}/EthernetInterfaces"
    yield collection(MANAGERS, "ManagerCollection", "Manager Collection", [persona.bmc.id])
    properties = {
        "ManagerType": "BMC",
        "Description": "Baseboard Management Controller",
        "UUID": "${uuid:manager}",
        "ServiceEntryPointUUID": "${uuid}",
        "Model": persona.bmc.model,
        "FirmwareVersion": "",
        "PowerState": "On",
        "Status": HEALTHY,
        "EthernetInterfaces": link(ports),
        "VirtualMedia": link(f"{path}/VirtualMedia"),
        "Links": {
            "ManagerForServers": links([f"{ROOT}/Systems/{persona.system.id}"]),
            "ManagerForChassis": links(f"{CHASSIS}/{part.id}" for part in persona.chassis),
        },
        "Actions": action(path, "Manager.Reset", ResetType=persona.bmc.reset_types),
    }
    yield resource(path, "Manager.v1_15_0.Manager", "Manager", properties)
    yield collection(ports, "EthernetInterfaceCollection", "Ethernet Network Interface Collection", [_PORT])
    port = {
        "InterfaceEnabled": True,
        "MACAddress": "${mac:-1}",
        "IPv4Addresses": [{"Address": "${address}", "SubnetMask": "255.0.0.0", "AddressOrigin": "DHCP"}],
        "Status": HEALTHY,
    }
    yield resource(f"{ports}/{_PORT}", "EthernetInterface.v1_6_0.EthernetInterface", "Manager Ethernet Interface", port)
