"""FirmwareInventory and SoftwareInventory: what runs, and the images that wait, ran before or came from the factory."""

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.machine.machine import Machine
from emulator.persona.firmware import AS_UPDATE, Slot, SlotKind
from emulator.redfish.errors import RedfishError, not_found, unknown_property, wrong_type
from emulator.redfish.http import Request, Response, collection, no_content, ok
from emulator.redfish.outage import inventory_share
from emulator.redfish.router import Route
from emulator.redfish.written import keep
from emulator.tree.document import Document, link
from emulator.tree.places import FIRMWARE_INVENTORY, UPDATE_SERVICE

_TYPE = "SoftwareInventory.v1_4_0.SoftwareInventory"
_SOFTWARE = f"{UPDATE_SERVICE}/SoftwareInventory"
_TITLES = {"current": "", "staged": " Staged", "backup": " Backup", "golden": " Golden"}
_READING = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the firmware inventory; `kind` None: what runs."""

    name: str
    slot: Slot
    kind: SlotKind | None
    version: str | None


async def get_inventory(request: Request) -> Response:
    """The ids of everything that runs firmware, then of the other images."""
    machine = request.machine
    found = [entry.name for entry in entries(machine)]
    members = found[: inventory_share(machine, len(found))]
    response = collection("SoftwareInventoryCollection", FIRMWARE_INVENTORY, "Software Inventory Collection", members)
    response.headers["Allow"] = ", ".join(_READING)  # the schema knows no POST here; iDRAC takes it all the same
    if machine.board.persona.update.two_step:
        response.headers["ETag"] = inventory_etag(machine)
    return response


async def get_entry(request: Request) -> Response:
    """One entry."""
    entry = _find(request.machine, request.parameters[0])
    if entry is None:
        raise not_found(request.path)
    document = _document(request.machine, entry)
    response = ok(_TYPE, f"{FIRMWARE_INVENTORY}/{entry.name}", document)
    if "WriteProtected" not in document:
        response.headers["Allow"] = ", ".join(_READING)
    return response


async def change_entry(request: Request) -> Response:
    """PATCH WriteProtected, where the entry has it."""
    slot = request.machine.firmware.inventory().get(request.parameters[0])
    if slot is None:
        raise not_found(request.path)
    body = request.json()
    for name, value in body.items():
        if name.startswith("@"):
            continue
        if name != "WriteProtected" or slot.write_protected is None:
            raise unknown_property(name)
        if not isinstance(value, bool):
            raise wrong_type(value, name)
        keep(request.machine, f"{FIRMWARE_INVENTORY}/{slot.key}", {name: value})
    return no_content()


async def get_software(request: Request) -> Response:
    """SoftwareInventory: drivers that the BMC knows of."""
    members = list(request.machine.board.persona.update.software)
    return collection("SoftwareInventoryCollection", _SOFTWARE, "Software Inventory Collection", members)


async def get_driver(request: Request) -> Response:
    """One of them; it runs while the host does."""
    name = request.parameters[0]
    version = request.machine.board.persona.update.software.get(name)
    if version is None:
        raise not_found(request.path)
    status = {"State": "Enabled" if request.machine.host.power == "On" else "StandbyOffline", "Health": "OK"}
    document = {"Id": name, "Name": "Software Inventory", "Version": version, "Updateable": False, "Status": status}
    return ok(_TYPE, f"{_SOFTWARE}/{name}", document)


def entries(machine: Machine) -> Iterator[Entry]:
    """All entries: what runs first, so that clients that look for the first match find it."""
    if _is_empty(machine):
        return
    slots = machine.firmware.slots
    for name, slot in slots.inventory().items():
        yield Entry(name, slot, None, slots.shown(slot))
    for slot in slots.inventory().values():
        for kind in slot.slots:
            yield from _other(machine, slot, kind)


def inventory_etag(machine: Machine) -> str:
    """The ETag of the inventory, which a push into it has to give."""
    return f'"{machine.board.state.bmc_resets}-{len(machine.board.state.uploads)}"'


def refuse_without_match(request: Request) -> None:
    """A push into the inventory needs If-Match. Raises RedfishError 412."""
    if request.headers.get("if-match") not in ("*", inventory_etag(request.machine)):
        raise RedfishError(412, "PreconditionFailed", "If-Match has to be the ETag of the firmware inventory.")


def available(machine: Machine, slot: Slot) -> str | None:
    """The version of an image that was pushed into the inventory and waits to be installed on a device."""
    for upload in machine.firmware.uploads.listing():
        if not upload.waits and upload.headers[0].component == slot.component:
            return upload.headers[0].version
    return machine.firmware.staged(slot.key)


def _find(machine: Machine, name: str) -> Entry | None:
    slots = machine.firmware.slots
    slot = slots.inventory().get(name)
    if slot and not _is_empty(machine):
        return Entry(name, slot, None, slots.shown(slot))
    return next((one for one in entries(machine) if one.name == name), None)


def _is_empty(machine: Machine) -> bool:
    return machine.firmware.failed and machine.board.faults.peek("inventory-empty-after-failure") is not None


def _other(machine: Machine, slot: Slot, kind: SlotKind) -> Iterator[Entry]:
    slots, update = machine.firmware.slots, machine.board.persona.update
    versions = {
        "current": slots.shown(slot),
        "staged": available(machine, slot) if update.two_step else slots.staged(slot.key),
        "backup": slots.previous(slot.key) or (slot.version if slot.backup_filled else None),
        "golden": slot.version,
    }
    version = versions[kind]
    if version is not None:
        yield Entry(slot.slot_id(kind, version), slot, kind, version)
        return
    empty = update.empty_slot if slot.empty_slot == AS_UPDATE else slot.empty_slot
    if empty != "absent":
        yield Entry(slot.slot_id(kind, ""), slot, kind, empty)


def _document(machine: Machine, entry: Entry) -> Document:
    slot = entry.slot
    protected = machine.firmware.slots.write_protected(slot)
    shown = {
        "Id": entry.name,
        "Name": _name(entry),
        "Description": slot.description,
        "Manufacturer": slot.manufacturer,
        "SoftwareId": slot.software_id,
        "WriteProtected": protected,
        "RelatedItem": [link(slot.related)] if slot.related else None,
    }
    document: Document = {name: value for name, value in shown.items() if value is not None}
    document |= {"Version": entry.version, "Updateable": slot.updateable, "Status": _status(machine, entry)}
    if machine.board.persona.update.slot_oem and entry.kind is None and _has_two(machine, slot):
        document["Oem"] = {"Nvidia": _nvidia(machine, slot)}
    return document


def _name(entry: Entry) -> str:
    kind = entry.kind or "current"
    return entry.slot.slot_names.get(kind) or entry.slot.name + _TITLES[kind]


def _status(machine: Machine, entry: Entry) -> Document:
    key, faults = entry.slot.key, machine.board.faults
    if entry.version == machine.board.persona.update.no_version:
        return {"State": "UnavailableOffline", "Health": "Critical"}
    if entry.kind == "staged" and entry.version is not None and not faults.peek("staged-shown-enabled"):
        return {"State": "Updating" if key in machine.firmware.slots.writing else "StandbySpare", "Health": "OK"}
    if entry.kind is None and machine.firmware.staged(key) and faults.peek("activation-blocked"):
        return {"State": "Updating", "Health": "OK"}
    return {"State": "Enabled", "Health": "OK"}


def _has_two(machine: Machine, slot: Slot) -> bool:
    component = machine.firmware.slots.component(slot.key)
    return component.dual_slot and component.background_copy_seconds > 0


def _nvidia(machine: Machine, slot: Slot) -> Document:
    """Both slots, and whether the second one is being made equal to the first."""
    slots = machine.firmware.slots
    staged, copying = slots.staged(slot.key), slots.copy.runs(slot.key)
    other = staged or slots.previous(slot.key) or slot.version
    state = "Staged" if staged else "Updating" if copying else "Inactive"
    return {
        "@odata.type": "#NvidiaSoftwareInventory.v1_2_0.NvidiaSoftwareInventory",
        "ActiveFirmwareSlot": {"FirmwareState": "Activated", "SlotId": 0, "Version": slots.shown(slot)},
        "InactiveFirmwareSlot": {"FirmwareState": state, "SlotId": 1, "Version": other},
        "BackgroundCopyStatus": "InProgress" if copying else "Completed",
        "StageOnlyUpdateOptionSupported": True,
    }


ROUTES = (
    Route(f"{FIRMWARE_INVENTORY}/{{}}", get=get_entry, patch=change_entry, lasting=True),
    Route(_SOFTWARE, get=get_software, lasting=True),
    Route(f"{_SOFTWARE}/{{}}", get=get_driver, lasting=True),
)
