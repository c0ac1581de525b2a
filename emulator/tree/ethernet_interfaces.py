"""Ethernet interfaces: the ports of the host."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource

KIND = "EthernetInterface.v1_9_0.EthernetInterface"
_MBPS = 25000  # of ports on the board; those of an adapter have its speed


def build(persona: Persona) -> Iterator[Entry]:
    """The ports of the host, by the ids and in the order of the persona."""
    path = f"{places.host(persona)}/EthernetInterfaces"
    nics = persona.system.nics
    if not nics:
        return
    yield collection(path, "EthernetInterfaceCollection", "Ethernet Interface Collection", nics)
    for number, nic in enumerate(nics):
        properties = {
            "Description": f"Port {nic} of the host",
            "MACAddress": f"${{mac:{number}}}",
            "PermanentMACAddress": f"${{mac:{number}}}",
            "InterfaceEnabled": True,
            "LinkStatus": "LinkUp",
            "SpeedMbps": _speed(persona, nic),
            "FullDuplex": True,
            "AutoNeg": True,
            "MTUSize": 1500,
            "HostName": None,
            "FQDN": None,
            "NameServers": [],
            "IPv4Addresses": [],
            "IPv6Addresses": [],
            "Status": HEALTHY,
            "Links": {"Chassis": link(places.outer(persona)), **_of_adapter(persona, nic)},
        }
        yield resource(f"{path}/{nic}", KIND, nic, properties)


def _speed(persona: Persona, nic: str) -> int:
    found = [adapter.gbps for adapter in persona.adapters if nic in adapter.nics]
    return found[0] * 1000 if found else _MBPS


def _of_adapter(persona: Persona, nic: str) -> Document:
    """The function of the adapter that an interface is a port of."""
    for identity, adapter in places.adapters(persona):
        offset = adapter.ids.index(identity) * adapter.ports
        own = adapter.nics[offset : offset + adapter.ports]
        if nic in own:
            base = f"{places.outer(persona)}/NetworkAdapters/{identity}"
            one = own.index(nic) + 1
            return {
                "NetworkDeviceFunctions": links([f"{base}/NetworkDeviceFunctions/{one}"]),
                "Ports": links([f"{base}/Ports/{one}"]),
            }
    return {}
