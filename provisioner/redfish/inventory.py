"""From a snapshot to what Firstlight calls an inventory; pure.

Members of collections are read as documents: a sushy object for each of them costs more than fetching them all.
"""

import re
from collections.abc import Iterable

from provisioner.errors import BmcUnreachable
from provisioner.models.inventory import BootAbilities, FirmwareComponent, Identity, Inventory, Power, Processor
from provisioner.redfish.background_copy import copies, other_slot
from provisioner.redfish.devices import device_lists, gpu_devices, model_of
from provisioner.redfish.layout import Layout
from provisioner.redfish.quirks.traits import Traits
from provisioner.redfish.snapshot import Document, Members, Snapshot, folded, link, links, text

ENCLOSURES = ("RackMount", "Sled", "Blade", "Shelf", "StandAlone", "Enclosure")
"""ChassisTypes that stand for a whole server, best first."""
X86 = re.compile(r"x86|intel|amd|xeon|epyc", re.IGNORECASE)
ARM = re.compile(r"arm|nvidia|grace|ampere", re.IGNORECASE)


def inventory_of(bmc: str, snapshot: Snapshot, layout: Layout, *, requests: int) -> Inventory:
    """Everything that the sweep found. Raises `BmcUnreachable` when the host itself makes no sense."""
    host = snapshot.document(layout.host) or {}
    found = [member for system in layout.systems for member in _processors(snapshot, snapshot.document(system))]
    hosts_own = {path for path, _ in _processors(snapshot, host)}
    cpus = [(path, one) for path, one in found if one.get("ProcessorType") == "CPU" and path in hosts_own]
    cpus = cpus or [(path, one) for path, one in found if one.get("ProcessorType") == "CPU"]
    gpus = [(path, one) for path, one in found if one.get("ProcessorType") == "GPU"]
    processors = [_processor(*one) for one in [*cpus, *gpus]] + ([] if gpus else _devices(snapshot, layout))
    return Inventory(
        identity=identity_of(host, _enclosure_serial(snapshot, layout)),
        power=power_of(bmc, host),
        architecture=_architecture([one for _, one in cpus]),
        processors=tuple(processors),
        memory_gib=_memory_gib(snapshot, layout),
        macs=_macs(snapshot, host),
        firmware=firmware_of(snapshot, link(layout.root, "UpdateService"), layout.traits),
        boot=boot_abilities_of(snapshot, host),
        requests=requests,
    )


def identity_of(host: Document, enclosure_serial: str = "") -> Identity:
    """Who the host says it is; some boards know only the serial of what they are built into."""
    return Identity(
        serial=text(host, "SerialNumber") or enclosure_serial,
        uuid=text(host, "UUID").lower(),
        manufacturer=text(host, "Manufacturer"),
        model=text(host, "Model"),
    )


def power_of(bmc: str, host: Document) -> Power:
    """PowerState. Raises `BmcUnreachable` when the BMC says nothing that we know."""
    try:
        return Power(str(host.get("PowerState")))
    except ValueError as error:
        raise BmcUnreachable(bmc, f"PowerState is {host.get('PowerState')!r}") from error


def firmware_of(snapshot: Snapshot, update_service: str | None, traits: Traits) -> tuple[FirmwareComponent, ...]:
    """The firmware inventory, in the BMC's order."""
    inventory = link(snapshot.document(update_service), "FirmwareInventory")
    return firmware_in(snapshot.members(inventory), traits)


def firmware_in(members: Iterable[tuple[str, Document]], traits: Traits) -> tuple[FirmwareComponent, ...]:
    """The same, from a collection that was read by itself."""
    return tuple(_component(path, document, traits) for path, document in members)


def boot_abilities_of(snapshot: Snapshot, host: Document) -> BootAbilities:
    """What can be set; AMI keeps the values in the settings object of the system."""
    settings = snapshot.document(link(host, "@Redfish.Settings", "SettingsObject")) or {}
    boots = [boot for boot in (host.get("Boot"), settings.get("Boot")) if isinstance(boot, dict)]
    allowed = (boot.get("BootSourceOverrideTarget@Redfish.AllowableValues") for boot in boots)
    targets = next((one for one in allowed if isinstance(one, list)), [])
    return BootAbilities(tuple(str(one) for one in targets), any("HttpBootUri" in boot for boot in boots))


def enclosure_serial(host: str, chassis: Iterable[Document]) -> str:
    """The serial of the chassis that holds `host`, as printed on it; empty when none says."""
    serials = {
        one.get("ChassisType"): text(one, "SerialNumber")
        for one in chassis
        if folded(host) in {folded(path) for path in links(one, "Links", "ComputerSystems")} and one.get("SerialNumber")
    }
    return next((serials[kind] for kind in ENCLOSURES if kind in serials), "")


def _enclosure_serial(snapshot: Snapshot, layout: Layout) -> str:
    return enclosure_serial(layout.host, (one for _, one in snapshot.members(link(layout.root, "Chassis"))))


def _processors(snapshot: Snapshot, system: Document | None) -> Members:
    return list(snapshot.members(link(system, "Processors")))


def _processor(path: str, document: Document) -> Processor:
    model = document.get("Model") or document.get("Version") or document.get("Name") or ""
    kind = str(document.get("ProcessorType"))
    return Processor(id=str(document.get("Id") or path), kind=kind, model=str(model).strip())


def _devices(snapshot: Snapshot, layout: Layout) -> list[Processor]:
    """GPUs that are no Processors."""
    chassis = [one for _, one in snapshot.members(link(layout.root, "Chassis"))]
    found = gpu_devices(snapshot, device_lists(chassis, layout.traits))
    return [Processor(text(device, "Id") or path, "GPU", model_of(device)) for path, device in found]


def _architecture(cpus: list[Document]) -> str:
    for cpu in cpus:
        said = " ".join(str(cpu.get(name) or "") for name in ("InstructionSet", "Manufacturer", "Model", "Version"))
        if X86.search(said):
            return "x86_64"
        if ARM.search(said):
            return "aarch64"
    return ""


def _memory_gib(snapshot: Snapshot, layout: Layout) -> float:
    """Of the host; where it does not say, of the board that carries its CPUs; else the sum of the modules."""
    systems = [snapshot.document(path) or {} for path in layout.systems]
    for system in systems:
        summary = system.get("MemorySummary")
        total = summary.get("TotalSystemMemoryGiB") if isinstance(summary, dict) else None
        if isinstance(total, (int, float)) and total > 0:
            return float(total)
    modules = [
        module.get("CapacityMiB") for system in systems for _, module in snapshot.members(link(system, "Memory"))
    ]
    return sum(size for size in modules if isinstance(size, (int, float))) / 1024


def _macs(snapshot: Snapshot, host: Document) -> tuple[str, ...]:
    found = [
        text(interface, "PermanentMACAddress") or text(interface, "MACAddress")
        for _, interface in snapshot.members(link(host, "EthernetInterfaces"))
    ]
    return tuple(dict.fromkeys(mac.lower() for mac in found if mac))


def _component(path: str, document: Document, traits: Traits) -> FirmwareComponent:
    identity = str(document.get("Id") or path.rstrip("/").rpartition("/")[2])
    version = document.get("Version")
    return FirmwareComponent(
        id=identity,
        uri=path,
        name=str(document.get("Name") or identity),
        version=str(version) if version else None,
        updateable=bool(document.get("Updateable")),
        write_protected=traits.write_protection_told and document.get("WriteProtected") is True,
        copying=copies(document),
        related=links(document, "RelatedItem"),
        other_slot=other_slot(document),
    )
