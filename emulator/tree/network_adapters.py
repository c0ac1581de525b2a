"""Network adapters: ports and functions, and the host's view of them (NetworkInterfaces)."""

from collections.abc import Iterator

from emulator.persona.hardware import Adapter
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.pcie import adapter_device


def build(persona: Persona) -> Iterator[Entry]:
    """The adapters of the first chassis; nothing when the persona says of none."""
    found = places.adapters(persona)
    if not found:
        return
    path = f"{places.outer(persona)}/NetworkAdapters"
    yield collection(path, "NetworkAdapterCollection", "Network Adapter Collection", [name for name, _ in found])
    for identity, adapter in found:
        yield from _adapter(persona, f"{path}/{identity}", adapter)
    host = f"{places.host(persona)}/NetworkInterfaces"
    yield collection(host, "NetworkInterfaceCollection", "Network Interface Collection", [name for name, _ in found])
    for identity, _ in found:
        yield _interface(f"{host}/{identity}", f"{path}/{identity}")


def first_macs(persona: Persona) -> dict[str, int]:
    """The number of the MAC address of each adapter's first port: those of the host's interfaces, then their own."""
    macs: dict[str, int] = {}
    following = len(persona.system.nics)
    for identity, adapter in places.adapters(persona):
        own = [persona.system.nics.index(nic) for nic in adapter.nics if nic in persona.system.nics]
        offset = adapter.ids.index(identity) * adapter.ports
        if offset < len(own):
            macs[identity] = own[offset]
        else:
            macs[identity] = following
            following += adapter.ports
    return macs


def _adapter(persona: Persona, path: str, adapter: Adapter) -> Iterator[Entry]:
    identity = path.rsplit("/", 1)[-1]
    ports, functions = f"{path}/Ports", f"{path}/NetworkDeviceFunctions"
    ids = [str(one) for one in range(1, adapter.ports + 1)]
    properties = {
        "Manufacturer": adapter.manufacturer,
        "Model": adapter.model,
        "PartNumber": adapter.part_number,
        "SerialNumber": f"${{hex:adapter {identity}}}",
        "Status": HEALTHY,
        **_slot(adapter, identity),
        "Ports": link(ports),
        "NetworkDeviceFunctions": link(functions),
        "Controllers": [_controller(persona, path, adapter, ids)],
    }
    yield resource(path, "NetworkAdapter.v1_10_0.NetworkAdapter", adapter.model, properties)
    yield collection(ports, "PortCollection", "Port Collection", ids)
    yield collection(functions, "NetworkDeviceFunctionCollection", "Network Device Function Collection", ids)
    first = first_macs(persona)[identity]
    for offset, one in enumerate(ids):
        yield from _port(f"{ports}/{one}", adapter, first + offset)
        yield _function(path, one, adapter, first + offset)


def _slot(adapter: Adapter, identity: str) -> Document:
    if adapter.slot is None:
        return {"Location": {"PartLocation": {"LocationType": "Embedded", "ServiceLabel": identity}}}
    number = adapter.slot + adapter.ids.index(identity)
    place = {"LocationType": "Slot", "LocationOrdinalValue": number, "ServiceLabel": f"Slot {number}"}
    return {"Location": {"PartLocation": place}}


def _controller(persona: Persona, path: str, adapter: Adapter, ids: list[str]) -> Document:
    identity = path.rsplit("/", 1)[-1]
    return {
        "FirmwarePackageVersion": None,
        "ControllerCapabilities": {"NetworkPortCount": adapter.ports, "NetworkDeviceFunctionCount": adapter.ports},
        "PCIeInterface": {
            "PCIeType": adapter.pcie,
            "MaxPCIeType": adapter.pcie,
            "LanesInUse": adapter.lanes,
            "MaxLanes": adapter.lanes,
        },
        "Links": {
            "PCIeDevices": links([adapter_device(persona, identity)]),
            "Ports": links(f"{path}/Ports/{one}" for one in ids),
            "NetworkDeviceFunctions": links(f"{path}/NetworkDeviceFunctions/{one}" for one in ids),
        },
    }


def _port(path: str, adapter: Adapter, mac: int) -> Iterator[Entry]:
    speed = {"CurrentSpeedGbps": adapter.gbps, "MaxSpeedGbps": adapter.gbps}
    own: Document = {"Ethernet": {"AssociatedMACAddresses": [f"${{mac:{mac}}}"]}}
    if adapter.protocol == "InfiniBand":
        guid = f"${{guid:{mac}}}"
        own = {"InfiniBand": {"AssociatedNodeGUIDs": [guid], "AssociatedPortGUIDs": [guid]}}
    properties = {
        "PortId": path.rsplit("/", 1)[-1],
        "PortProtocol": adapter.protocol,
        "PortType": "BidirectionalPort",
        "PortMedium": "Optical",
        "LinkNetworkTechnology": adapter.protocol,
        "LinkState": "Enabled",
        "LinkStatus": "LinkUp",
        **speed,
        "Width": 4 if adapter.protocol == "InfiniBand" else 1,
        **own,
        "Metrics": link(f"{path}/Metrics"),
        "Status": HEALTHY,
    }
    yield resource(path, "Port.v1_9_0.Port", f"Port {path.rsplit('/', 1)[-1]}", properties)
    counted = {"RXBytes": 0, "TXBytes": 0, "RXErrors": 0, "TXErrors": 0}
    yield resource(f"{path}/Metrics", "PortMetrics.v1_4_0.PortMetrics", "Port Metrics", counted)


def _function(path: str, one: str, adapter: Adapter, mac: int) -> Entry:
    port = f"{path}/Ports/{one}"
    own: Document = {"Ethernet": {"MACAddress": f"${{mac:{mac}}}", "PermanentMACAddress": f"${{mac:{mac}}}"}}
    if adapter.protocol == "InfiniBand":
        guid = f"${{guid:{mac}}}"
        own = {"InfiniBand": {"NodeGUID": guid, "PermanentNodeGUID": guid, "PermanentPortGUID": guid, "PortGUID": guid}}
    properties = {
        "NetDevFuncType": adapter.protocol,
        "NetDevFuncCapabilities": [adapter.protocol],
        "DeviceEnabled": True,
        **own,
        "Links": {"PhysicalNetworkPortAssignment": link(port)},
        "Status": HEALTHY,
    }
    kind = "NetworkDeviceFunction.v1_9_0.NetworkDeviceFunction"
    return resource(f"{path}/NetworkDeviceFunctions/{one}", kind, f"Network Device Function {one}", properties)


def _interface(path: str, adapter: str) -> Entry:
    properties = {
        "Status": HEALTHY,
        "Ports": link(f"{adapter}/Ports"),
        "NetworkDeviceFunctions": link(f"{adapter}/NetworkDeviceFunctions"),
        "Links": {"NetworkAdapter": link(adapter)},
    }
    return resource(path, "NetworkInterface.v1_2_0.NetworkInterface", "Network Device View", properties)
