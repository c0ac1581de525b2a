"""GPUs that are no Processors: devices of the chassis, in an OEM collection or as PCIeDevices; pure.

Supermicro calls such devices `GPU1`, iLO 5 gives its OEM devices a DeviceType. Where nothing of the device itself says
what it is, its function does: DeviceClass and VendorId (DSP0268, PCIeFunction).
"""

import re
from collections.abc import Iterable, Sequence

from provisioner.redfish.quirks.traits import Traits
from provisioner.redfish.snapshot import Document, Members, Snapshot, folded, link, links, text

MAKERS = re.compile(r"nvidia|advanced micro devices|\bamd\b", re.IGNORECASE)
VENDOR_IDS = frozenset({0x10DE, 0x1002})
"""NVIDIA and AMD. The VGA of a BMC is a DisplayController too, of Matrox (0x102B) or ASPEED (0x1A03)."""
CLASSES = frozenset({"DisplayController", "ProcessingAccelerators"})
NOTHING = frozenset({"", "n/a", "na", "none", "null", "unknown"})


def device_lists(chassis: Iterable[Document], traits: Traits) -> list[list[str]]:
    """Collections that may list GPUs, in the order in which they are believed; each is read only if those before fail.

    One server shows the same GPU in several of them, so only the first with a GPU counts.
    """
    boxes = list(chassis)
    places = [traits.device_collection, ("PCIeDevices",)] if traits.device_collection else [("PCIeDevices",)]
    found = [[path for box in boxes for path in [link(box, *place)] if path] for place in places]
    return [list({folded(path): path for path in paths}.values()) for paths in found if paths]


def gpu_devices(snapshot: Snapshot, lists: Sequence[Sequence[str]]) -> Members:
    """Each GPU once, with its path, in the BMC's order."""
    for paths in lists:
        devices = _devices(snapshot, paths)
        gpus = [one for one in devices if _says_gpu(one[1])]
        for kind in [] if gpus else doubtful(snapshot, paths):
            if any(_drives_gpu(function) for _, one in kind for function in _functions(snapshot, one)):
                gpus += kind
        if gpus:
            return _once(gpus)
    return []


def doubtful(snapshot: Snapshot, paths: Sequence[str]) -> list[Members]:
    """What a maker of GPUs has made, by kind: a function of one device tells what all of its kind are.

    Empty where a device says by itself that it is a GPU.
    """
    devices = _devices(snapshot, paths)
    if any(_says_gpu(device) for _, device in devices):
        return []
    kinds: dict[tuple[str, ...], Members] = {}
    for path, device in devices:
        if MAKERS.search(" ".join(text(device, name) for name in ("Manufacturer", "Model", "Name"))):
            kinds.setdefault(_kind(path, device), []).append((path, device))
    return list(kinds.values())


def model_of(device: Document) -> str:
    """What it is, for people; some write `N/A` for a model."""
    model = text(device, "Model")
    return text(device, "Name") if model.lower() in NOTHING else model


def functions_link(device: Document) -> tuple[str | None, str | None]:
    """The collection of its functions, or, before PCIeDevice 1.4, its first function; one of both or none."""
    collection = link(device, "PCIeFunctions")
    listed = links(device, "Links", "PCIeFunctions")
    return collection, None if collection or not listed else listed[0]


def _devices(snapshot: Snapshot, paths: Iterable[str]) -> Members:
    found = {folded(path): (path, one) for listed in paths for path, one in snapshot.members(listed)}
    return [(path, one) for path, one in found.values() if _state(one) != "Absent"]


def _says_gpu(device: Document) -> bool:
    """iLO 5 calls the baseboard (no instance on the bus) and the NVSwitches GPUs too."""
    if "switch" in text(device, "Name").lower() or "switch" in text(device, "Id").lower():
        return False
    if device.get("DeviceType") == "GPU":
        return bool(device.get("DeviceInstances"))
    return text(device, "Id").lower().startswith("gpu")


def _drives_gpu(function: Document) -> bool:
    """An NVSwitch is a Bridge, a ConnectX a NetworkController; the audio of a GPU has another class as well."""
    try:
        vendor = int(text(function, "VendorId"), 16)
    except ValueError:
        return False
    return vendor in VENDOR_IDS and function.get("DeviceClass") in CLASSES


def _functions(snapshot: Snapshot, device: Document) -> list[Document]:
    collection, first = functions_link(device)
    function = snapshot.document(first)
    return [one for _, one in snapshot.members(collection)] + ([function] if function else [])


def _kind(path: str, device: Document) -> tuple[str, ...]:
    model = text(device, "Model")
    if model.lower() in NOTHING:
        return (folded(path),)
    return (text(device, "Manufacturer"), model, text(device, "PartNumber"))


def _once(gpus: Members) -> Members:
    """Two chassis may list one GPU under two paths. A serial number is not enough: two GB300 on one board share it."""
    found: dict[tuple[str, ...], tuple[str, Document]] = {}
    for path, device in gpus:
        found.setdefault(_identity(path, device), (path, device))
    return list(found.values())


def _identity(path: str, device: Document) -> tuple[str, ...]:
    serial = text(device, "SerialNumber")
    if unique := text(device, "UUID").lower():
        return (unique,)
    return (folded(path),) if serial.lower() in NOTHING else (serial, text(device, "Id"))


def _state(device: Document) -> object:
    status = device.get("Status")
    return status.get("State") if isinstance(status, dict) else None
