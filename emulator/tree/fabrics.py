"""NVLink: the fabric with its switches, and the ports of switches and GPUs."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.places import FABRICS


def build(persona: Persona) -> Iterator[Entry]:
    """The ports of the GPUs; the fabric where there are switches."""
    for number, gpu in enumerate(places.gpus(persona)):
        if persona.gpus.place == "processors":
            yield from _gpu_ports(persona, number, gpu)
    if persona.nvswitches.count:
        yield from _fabric(persona)


def switch_of(persona: Persona, port: int) -> int:
    """Which switch a GPU's NVLink port leads to: they are dealt out in turn."""
    return port * persona.nvswitches.count // max(1, persona.gpus.nvlinks)


def _gpu_ports(persona: Persona, number: int, gpu: str) -> Iterator[Entry]:
    names = [f"NVLink_{one}" for one in range(persona.gpus.nvlinks)]
    yield collection(f"{gpu}/Ports", "PortCollection", "NVLink Port Collection", names)
    for port, name in enumerate(names):
        yield from _port(persona, f"{gpu}/Ports/{name}", _switch_link(persona, number, port))


def _switch_link(persona: Persona, number: int, port: int) -> Document:
    switches = persona.nvswitches
    if not switches.count:
        return {}
    switch = f"{FABRICS}/{switches.fabric}/Switches/{switches.ids[switch_of(persona, port)]}"
    connected = {"ConnectedSwitches": links([switch])}
    first = sum(switch_of(persona, one) == switch_of(persona, port) for one in range(port))
    other = number * _share(persona) + first
    if other < switches.ports:
        connected["ConnectedSwitchPorts"] = links([f"{switch}/Ports/NVLink_{other}"])
    return {"Links": connected}


def _share(persona: Persona) -> int:
    """How many ports of each switch one GPU has at most."""
    return -(-persona.gpus.nvlinks // max(1, persona.nvswitches.count))


def _port(persona: Persona, path: str, connected: Document) -> Iterator[Entry]:
    name = path.rsplit("/", 1)[-1]
    speed = persona.gpus.nvlink_gbps
    properties = {
        "PortProtocol": "NVLink",
        "PortType": "BidirectionalPort",
        "LinkState": "Enabled",
        "LinkStatus": "LinkUp",
        "CurrentSpeedGbps": speed,
        "MaxSpeedGbps": speed,
        "Width": 2,
        **connected,
        "Metrics": link(f"{path}/Metrics"),
        "Status": HEALTHY,
    }
    yield resource(path, "Port.v1_9_0.Port", name, properties)
    counted = {"RXBytes": 0, "TXBytes": 0, "RXErrors": 0, "TXErrors": 0}
    yield resource(f"{path}/Metrics", "PortMetrics.v1_4_0.PortMetrics", f"{name} Port Metrics", counted)


def _fabric(persona: Persona) -> Iterator[Entry]:
    switches = persona.nvswitches
    path = f"{FABRICS}/{switches.fabric}"
    yield collection(FABRICS, "FabricCollection", "Fabric Collection", [switches.fabric])
    properties: Document = {
        "FabricType": "NVLink",
        "Switches": link(f"{path}/Switches"),
        "Status": {**HEALTHY, "HealthRollup": "OK"},
    }
    yield resource(path, "Fabric.v1_3_0.Fabric", "NVLink fabric", properties)
    yield collection(f"{path}/Switches", "SwitchCollection", "Switch Collection", switches.ids)
    for number, identity in enumerate(switches.ids):
        yield from _switch(persona, number, f"{path}/Switches/{identity}")


def _switch(persona: Persona, number: int, path: str) -> Iterator[Entry]:
    switches = persona.nvswitches
    identity = switches.ids[number]
    properties = {
        "SwitchType": "NVLink",
        "SupportedProtocols": ["NVLink"],
        "Manufacturer": "NVIDIA",
        "Model": switches.model,
        "PartNumber": switches.part_number,
        "SerialNumber": f"${{number:{identity}}}",
        "UUID": f"${{uuid:{identity}}}",
        "FirmwareVersion": "",
        "PowerState": "Off",
        "Status": {**HEALTHY, "HealthRollup": "OK"},
        **({"Ports": link(f"{path}/Ports")} if switches.ports else {}),
        "Links": {
            "Chassis": link(places.switch_chassis(persona)[number]),
            "ManagedBy": links([places.gpu_manager(persona)]),
        },
    }
    yield resource(path, "Switch.v1_9_0.Switch", f"{identity} Resource", properties)
    if not switches.ports:
        return
    names = [f"NVLink_{one}" for one in range(switches.ports)]
    yield collection(f"{path}/Ports", "PortCollection", "NVLink Port Collection", names)
    for name in names:
        yield from _port(persona, f"{path}/Ports/{name}", {})
