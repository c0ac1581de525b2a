"""PCIe: devices with their functions, and the slots that they are in."""

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource

_NVIDIA, _MELLANOX = "0x10DE", "0x15B3"


@dataclass(frozen=True, slots=True)
class Device:
    """One device on the bus; `function_links` are the Links of its function."""

    path: str
    name: str
    manufacturer: str
    model: str
    part_number: str
    serial: str
    pcie: str
    lanes: int
    vendor_id: str
    device_id: str
    device_class: str
    class_code: str
    is_gpu: bool
    label: str
    system: str


def devices(persona: Persona) -> dict[str, tuple[Device, ...]]:
    """The devices of each chassis, by its path."""
    found: dict[str, list[Device]] = {}
    for device in (*_gpus(persona), *_adapters(persona)):
        found.setdefault(device.path.rsplit("/", 2)[0], []).append(device)
    return {box: tuple(held) for box, held in found.items()}


def build(persona: Persona) -> Iterator[Entry]:
    """Devices, functions and slots."""
    for box, held in devices(persona).items():
        paths = [device.path for device in held]
        yield collection(f"{box}/PCIeDevices", "PCIeDeviceCollection", "PCIe Device Collection", paths)
        for device in held:
            yield from _device(box, device)
    if any(adapter.slot is not None for adapter in persona.adapters):
        yield _slots(persona)


def _gpus(persona: Persona) -> Iterator[Device]:
    gpus = persona.gpus
    for path, gpu in zip(places.gpu_devices(persona), gpus.ids, strict=True):
        yield Device(
            path=path,
            name=gpu,
            manufacturer=gpus.manufacturer,
            model=gpus.model,
            part_number=gpus.part_number,
            serial=f"${{number:{gpu}}}",
            pcie=gpus.pcie,
            lanes=16,
            vendor_id=_NVIDIA,
            device_id=gpus.pci_device,
            device_class="ProcessingAccelerators",
            class_code="0x030200",
            is_gpu=True,
            label=gpu,
            system=places.gpu_system(persona),
        )


def _adapters(persona: Persona) -> Iterator[Device]:
    for identity, adapter in places.adapters(persona):
        yield Device(
            path=adapter_device(persona, identity),
            name=adapter.model,
            manufacturer=adapter.manufacturer,
            model=adapter.model,
            part_number=adapter.part_number,
            serial=f"${{hex:adapter {identity}}}",
            pcie=adapter.pcie,
            lanes=adapter.lanes,
            vendor_id=_MELLANOX,
            device_id=adapter.pci_device,
            device_class="NetworkController",
            class_code="0x020700" if adapter.protocol == "InfiniBand" else "0x020000",
            is_gpu=False,
            label=identity,
            system=places.host(persona),
        )


def adapter_device(persona: Persona, identity: str) -> str:
    """The PCIeDevice of a network adapter."""
    name = f"NIC{identity}" if identity.isdigit() else identity
    return f"{places.outer(persona)}/PCIeDevices/{name}"


def _device(box: str, device: Device) -> Iterator[Entry]:
    functions = f"{device.path}/PCIeFunctions"
    properties: Document = {
        "DeviceType": "SingleFunction",
        "Manufacturer": device.manufacturer,
        "Model": device.model,
        "PartNumber": device.part_number,
        "SerialNumber": device.serial,
        "FirmwareVersion": None,
        "PCIeInterface": {
            "PCIeType": device.pcie,
            "MaxPCIeType": device.pcie,
            "LanesInUse": device.lanes,
            "MaxLanes": device.lanes,
        },
        "Status": {**HEALTHY, "HealthRollup": "OK"},
        "PCIeFunctions": link(functions),
        "Links": {"Chassis": links([box])},
    }
    yield resource(device.path, "PCIeDevice.v1_14_0.PCIeDevice", device.name, properties)
    yield collection(functions, "PCIeFunctionCollection", "PCIe Function Collection", ["0"])
    function = {
        "FunctionId": 0,
        "FunctionType": "Physical",
        "DeviceClass": device.device_class,
        "ClassCode": device.class_code,
        "VendorId": device.vendor_id,
        "DeviceId": device.device_id,
        "SubsystemId": "0x16C1" if device.is_gpu else "0x0041",
        "SubsystemVendorId": device.vendor_id,
        "RevisionId": "0xA1" if device.is_gpu else "0x00",
        "Status": HEALTHY,
        "Links": {"PCIeDevice": link(device.path)},
    }
    yield resource(f"{functions}/0", "PCIeFunction.v1_4_0.PCIeFunction", "PCIe Function 0", function)


def _slots(persona: Persona) -> Entry:
    slots: list[Document] = []
    for adapter in persona.adapters:
        for offset, identity in enumerate(adapter.ids if adapter.slot is not None else ()):
            number = (adapter.slot or 0) + offset
            place = {"LocationType": "Slot", "LocationOrdinalValue": number, "ServiceLabel": f"Slot {number}"}
            slots.append(
                {
                    "SlotType": "FullLength",
                    "PCIeType": adapter.pcie,
                    "Lanes": adapter.lanes,
                    "HotPluggable": False,
                    "Status": {"State": "Enabled"},
                    "Location": {"PartLocation": place},
                    "Links": {"PCIeDevice": links([adapter_device(persona, identity)])},
                }
            )
    path = f"{places.outer(persona)}/PCIeSlots"
    return resource(path, "PCIeSlots.v1_5_0.PCIeSlots", "PCIe Slot Information", {"Slots": slots})
