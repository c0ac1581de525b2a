"""Storage: one controller with the NVMe drives, and the simple view of them."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource


def build(persona: Persona) -> Iterator[Entry]:
    """Storage with its controller, volumes and drives; SimpleStorage where there is one."""
    host, system = places.host(persona), persona.system
    path = f"{host}/Storage/{system.storage_id}"
    drives = places.drives(persona)
    yield collection(f"{host}/Storage", "StorageCollection", "Storage Collection", [path])
    yield resource(path, "Storage.v1_15_0.Storage", "NVMe Storage", _storage(persona, path, drives))
    yield collection(f"{path}/Controllers", "StorageControllerCollection", "Storage Controller Collection", ["0"])
    yield _controller(persona, f"{path}/Controllers/0")
    volumes, document = collection(f"{path}/Volumes", "VolumeCollection", "Volume Collection", [])
    support = {"@odata.type": "#Settings.v1_3_0.OperationApplyTimeSupport", "SupportedValues": ["Immediate"]}
    yield volumes, document | {"@Redfish.OperationApplyTimeSupport": support}
    if drives:
        holder = drives[0].rsplit("/", 1)[0]
        yield collection(holder, "DriveCollection", "Drive Collection", drives)
    for number, drive in enumerate(drives):
        yield resource(drive, "Drive.v1_17_0.Drive", f"NVMe Drive {number}", _drive(persona, number, drive))
    if system.simple_storage:
        yield collection(f"{host}/SimpleStorage", "SimpleStorageCollection", "Simple Storage Collection", ["1"])
        yield _simple(persona, f"{host}/SimpleStorage/1", path)


def _storage(persona: Persona, path: str, drives: tuple[str, ...]) -> Document:
    holder = persona.system.drive_chassis or persona.chassis[0].id
    return {
        "Drives": links(drives),
        "Drives@odata.count": len(drives),
        "Controllers": link(f"{path}/Controllers"),
        "Volumes": link(f"{path}/Volumes"),
        "Links": {"Enclosures": links([f"{places.CHASSIS}/{holder}"])},
        "Status": {**HEALTHY, "HealthRollup": "OK"},
    }


def _controller(persona: Persona, path: str) -> Entry:
    properties = {
        "Manufacturer": persona.system.manufacturer,
        "Model": "CPU-attached NVMe",
        "SupportedControllerProtocols": ["PCIe"],
        "SupportedDeviceProtocols": ["NVMe"],
        "SupportedRAIDTypes": [],
        "Status": HEALTHY,
    }
    return resource(path, "StorageController.v1_7_0.StorageController", "NVMe Controller", properties)


def _drive(persona: Persona, number: int, path: str) -> Document:
    system = persona.system
    name = path.rsplit("/", 1)[-1]
    return {
        "MediaType": "SSD",
        "Protocol": "NVMe",
        "Manufacturer": system.drive_manufacturer,
        "Model": system.drive_model,
        "PartNumber": system.drive_model,
        "SerialNumber": f"${{hex:drive {number}}}",
        "Revision": "GDC5602Q",
        "CapacityBytes": system.drive_bytes,
        "BlockSizeBytes": 512,
        "CapableSpeedGbs": 128,
        "NegotiatedSpeedGbs": 128,
        "EncryptionAbility": "SelfEncryptingDrive",
        "EncryptionStatus": "Unencrypted",
        "FailurePredicted": False,
        "PredictedMediaLifeLeftPercent": 100,
        "HotspareType": "None",
        "LocationIndicatorActive": False,
        "AssetTag": None,
        "PhysicalLocation": {
            "PartLocation": {"LocationType": "Bay", "LocationOrdinalValue": number, "ServiceLabel": f"Bay {name}"}
        },
        "Links": {
            "Chassis": link(path.rsplit("/Drives/", 1)[0]),
            "Storage": link(f"{places.host(persona)}/Storage/{system.storage_id}"),
            "Volumes": [],
        },
        "Status": HEALTHY,
    }


def _simple(persona: Persona, path: str, storage: str) -> Entry:
    system = persona.system
    devices = [
        {
            "Name": f"NVMe Drive {number}",
            "Manufacturer": system.drive_manufacturer,
            "Model": system.drive_model,
            "CapacityBytes": system.drive_bytes,
            "Status": HEALTHY,
        }
        for number in range(system.drives)
    ]
    properties = {
        "Devices": devices,
        "Links": {"Chassis": link(places.outer(persona)), "Storage": link(storage)},
        "Status": HEALTHY,
    }
    return resource(path, "SimpleStorage.v1_3_0.SimpleStorage", "Simple Storage", properties)
