"""The persona of a recorded server: what its documents say about how it behaves, and plain habits for the rest."""

from collections.abc import Mapping
from typing import Any

from emulator.persona.hardware import BmcPart, ChassisPart, Durations, Gpus, System
from emulator.persona.persona import Persona
from emulator.persona.registry import bios_of
from emulator.persona.service import Accounts, Expand, Protocol, Root, Sessions
from emulator.persona.update import Tasks, Update
from emulator.recording.firmware import components_of, inventory_of
from emulator.recording.power import boot_of, cycles_of
from emulator.recording.recording import Recording
from emulator.recording.services import services_of
from emulator.tree.document import ROOT, Document

_DURATIONS = Durations(power_on=5, power_off=5, post=60, bmc_reset=60, boot_retry=20)
_RESETS = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart")
_APPLY_TIMES = ("Immediate", "OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset")


def persona_of(recording: Recording, name: str) -> Persona:
    """The persona of the server that was recorded; `name` is its name."""
    root = recording.get(ROOT)
    host = _host(recording)
    manager = _first(recording, host.get("Links", {}).get("ManagedBy"), f"{ROOT}/Managers")
    chassis = _first(recording, host.get("Links", {}).get("Chassis"), f"{ROOT}/Chassis")
    features = root.get("ProtocolFeaturesSupported", {})
    inventory = inventory_of(recording, host, manager)
    return Persona(
        name=name,
        arch="arm64" if _is_arm(recording, host) else "x86_64",
        serial_pattern="",
        mac_prefix="02:00:00",
        root=_root(root),
        expand=_expand(features.get("ExpandQuery", {})),
        protocol=_protocol(features),
        services=services_of(recording, host, manager),
        etag="optional",
        system=_system(recording, host),
        gpus=_gpus(recording, host),
        bmc=_bmc(recording, manager),
        chassis=(ChassisPart(id=_id(chassis), model=str(chassis.get("Model") or "")),),
        accounts=_accounts(recording),
        sessions=Sessions(limit=16, timeout_seconds=max(30, _number(recording, "SessionService", "SessionTimeout"))),
        durations=_DURATIONS,
        boot=boot_of(recording, host),
        cycles=cycles_of(recording),
        bios=_bios(recording, host),
        update=_update(recording),
        tasks=Tasks(),
        components=components_of(inventory),
        firmware=inventory,
    )


def _host(recording: Recording) -> Document:
    """The system that boots; where none says so, the first one."""
    systems = recording.members(f"{ROOT}/Systems")
    return next((system for system in systems if "Boot" in system), systems[0] if systems else {})


def _first(recording: Recording, references: Any, collection: str) -> Document:
    linked = [recording.get(reference) for reference in references or []]
    return next((document for document in (*linked, *recording.members(collection)) if document), {})


def _is_arm(recording: Recording, host: Document) -> bool:
    processors = recording.members(host.get("Processors"))
    return any(
        "ARM" in str(processor.get(name))
        for processor in processors
        for name in ("ProcessorArchitecture", "InstructionSet")
    )


def _root(root: Document) -> Root:
    return Root(
        id=str(root.get("Id", "RootService")),
        redfish_version=str(root.get("RedfishVersion", "1.0.0")),
        vendor=root.get("Vendor"),
        product=root.get("Product"),
        uuid="system",
    )


def _expand(expand: Mapping[str, Any]) -> Expand:
    return Expand(
        links=bool(expand.get("Links")),
        no_links=bool(expand.get("NoLinks")),
        expand_all=bool(expand.get("ExpandAll")),
        levels=bool(expand.get("Levels")),
        max_levels=int(expand.get("MaxLevels") or 1),
    )


def _protocol(features: Mapping[str, Any]) -> Protocol:
    return Protocol(
        select=bool(features.get("SelectQuery")),
        only=bool(features.get("OnlyMemberQuery")),
        filter=bool(features.get("FilterQuery")),
    )


def _system(recording: Recording, host: Document) -> System:
    reset = host.get("Actions", {}).get("#ComputerSystem.Reset", {})
    ports = recording.members(host.get("EthernetInterfaces"))
    return System(
        id=_id(host),
        manufacturer=str(host.get("Manufacturer") or ""),
        model=str(host.get("Model") or ""),
        sku="",
        part_number="",
        reset_types=recording.allowed(reset, "ResetType") or _RESETS,
        memory_gib=0,
        dimms=0,
        cpu_model="",
        cpu_ids=(),
        cpu_cores=0,
        nics=tuple(_id(port) for port in ports) or ("1",),
    )


def _gpus(recording: Recording, host: Document) -> Gpus:
    for system in (host, *recording.members(f"{ROOT}/Systems")):
        processors = recording.members(system.get("Processors"))
        found = [_id(one) for one in processors if one.get("ProcessorType") == "GPU"]
        if found:
            return Gpus(ids=tuple(found), system=_id(system))
    return Gpus()


def _bmc(recording: Recording, manager: Document) -> BmcPart:
    reset = manager.get("Actions", {}).get("#Manager.Reset", {})
    types = recording.allowed(reset, "ResetType") or ("GracefulRestart", "ForceRestart")
    return BmcPart(id=_id(manager), model=str(manager.get("Model") or ""), reset_types=types)


def _accounts(recording: Recording) -> Accounts:
    service = recording.get(f"{ROOT}/AccountService")
    found = recording.members(service.get("Accounts"))
    named = [account for account in found if account.get("UserName") and account.get("RoleId") == "Administrator"]
    account = next((one for one in named if one["UserName"] in ("root", "admin", "ADMIN")), {}) or (named or [{}])[0]
    return Accounts(
        username=str(account.get("UserName") or "root"),
        id=_id(account) or "1",
        min_password=min(int(service.get("MinPasswordLength") or 8), 10),
        max_password=max(int(service.get("MaxPasswordLength") or 20), 10),
        lockout_threshold=int(service.get("AccountLockoutThreshold") or 0),
        lockout_seconds=float(service.get("AccountLockoutDuration") or 60),
        counter_reset_seconds=float(service.get("AccountLockoutCounterResetAfter") or 60),
    )


def _bios(recording: Recording, host: Document) -> Any:
    bios = recording.get(host.get("Bios"))
    settings = bios.get("@Redfish.Settings", {})
    where = str(settings.get("SettingsObject", {}).get("@odata.id", "")).rstrip("/").rpartition("/")[2]
    times = [time for time in settings.get("SupportedApplyTimes") or () if time in _APPLY_TIMES]
    registry = _registry(recording, str(bios.get("AttributeRegistry") or ""))
    values = {name: value for name, value in (bios.get("Attributes") or {}).items() if isinstance(value, str | int)}
    return bios_of(
        registry,
        values,
        settings=where or None,
        apply_times=tuple(times) or ("OnReset",),
        shows="all" if recording.get(settings.get("SettingsObject")).get("Attributes") else "pending",
    )


def _registry(recording: Recording, name: str) -> Document:
    """The attribute registry of that name, where it was recorded."""
    kind = "#AttributeRegistry."
    found = [document for _, document in recording if str(document.get("@odata.type", "")).startswith(kind)]
    named = [document for document in found if str(document.get("Id", "")).startswith(name.partition(".")[0])]
    return (named or [{}])[0] if name else {}


def _update(recording: Recording) -> Update:
    service = recording.get(f"{ROOT}/UpdateService")
    simple = service.get("Actions", {}).get("#UpdateService.SimpleUpdate")
    offered = recording.allowed(simple or {}, "TransferProtocol")
    return Update(
        simple_update=simple is not None,
        protocols=offered or ("HTTP", "HTTPS"),
        multipart_uri=service.get("MultipartHttpPushUri"),
        push_uri=service.get("HttpPushUri"),
        max_image_bytes=service.get("MaxImageSizeBytes"),
    )


def _number(recording: Recording, service: str, name: str) -> float:
    value = recording.get(f"{ROOT}/{service}").get(name)
    return float(value) if isinstance(value, int | float) else 1800.0


def _id(document: Document) -> str:
    """The last part of the path of a resource, which its Id not always is."""
    return str(document.get("@odata.id", "")).rstrip("/").rpartition("/")[2]
