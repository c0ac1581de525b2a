"""What a recorded server can boot, and the OEM verbs of it that cut power."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from emulator.persona.boot import Boot
from emulator.persona.hardware import Cycle
from emulator.recording.recording import Recording
from emulator.tree.document import ROOT, Document

_TARGETS = ("None", "Pxe", "Hdd", "Cd", "BiosSetup")
_BOOTS = {
    "UefiHttp": re.compile(r"\bHTTP", re.IGNORECASE),
    "Pxe": re.compile(r"\bPXE|^Network$", re.IGNORECASE),
    "Cd": re.compile(r"\bCD|\bDVD|Optical", re.IGNORECASE),
    "Usb": re.compile(r"\bUSB|Flash Drive", re.IGNORECASE),
    "UefiShell": re.compile(r"\bShell", re.IGNORECASE),
}
_CYCLES = {
    "ACCycle": "ac",
    "ACPowerCycle": "ac",
    "FullPowerCycle": "ac",
    "AuxCycle": "aux",
    "AuxPowerCycle": "aux",
}
_OWNERS = ("Systems", "Chassis", "Managers")


def boot_of(recording: Recording, host: Document) -> Boot:
    """Targets, modes, boot options in their order, and where overrides are written."""
    boot = host.get("Boot", {})
    settings = recording.get(host.get("@Redfish.Settings", {}).get("SettingsObject"))
    future = settings.get("Boot", {})
    allowable = "BootSourceOverride{}@Redfish.AllowableValues"
    targets = boot.get(allowable.format("Target")) or future.get(allowable.format("Target")) or ()
    modes = boot.get(allowable.format("Mode")) or future.get(allowable.format("Mode")) or ("UEFI",)
    references = _references(recording, boot)
    return Boot(
        targets=tuple(dict.fromkeys(["None", *map(str, targets)])) if targets else _TARGETS,
        modes=tuple(map(str, modes)),
        http_boot_uri="HttpBootUri" in boot,
        references=references,
        settings=str(settings["@odata.id"]).rstrip("/").rpartition("/")[2] if future else None,
        **({"order": tuple(dict.fromkeys(references.values()))} if references else {}),
    )


def cycles_of(recording: Recording) -> tuple[Cycle, ...]:
    """The OEM actions of systems, chassis and managers that take a word for a power cycle."""
    return tuple(
        cycle
        for owner in _OWNERS
        for document in recording.members(f"{ROOT}/{owner}")
        for name, action in _oem_actions(document)
        for cycle in _cycles(recording, name, action)
    )


def _references(recording: Recording, boot: Mapping[str, Any]) -> dict[str, str]:
    options = recording.members(boot.get("BootOptions"))
    named = {str(one.get("BootOptionReference")): one for one in options if one.get("BootOptionReference")}
    order = [reference for reference in boot.get("BootOrder") or () if reference in named]
    return {reference: _target(named[reference]) for reference in dict.fromkeys([*order, *named])}


def _target(option: Document) -> str:
    """What a boot option boots, by its alias, its device path or its name."""
    alias = option.get("Alias")
    if isinstance(alias, str) and alias != "None":
        return alias
    if "/Uri()" in str(option.get("UefiDevicePath")):
        return "UefiHttp"
    name = str(option.get("DisplayName") or "")
    return next((target for target, words in _BOOTS.items() if words.search(name)), "Hdd")


def _oem_actions(document: Document) -> Iterator[tuple[str, Document]]:
    places = [document.get("Actions", {}).get("Oem")]
    oem = document.get("Oem")
    places += [one.get("Actions") for one in oem.values() if isinstance(one, dict)] if isinstance(oem, dict) else []
    for place in places:
        for name, action in place.items() if isinstance(place, dict) else ():
            if isinstance(action, dict) and isinstance(action.get("target"), str):
                yield name.lstrip("#"), action


def _cycles(recording: Recording, name: str, action: Document) -> Iterator[Cycle]:
    for value in recording.allowed(action, "ResetType"):
        if value in _CYCLES:
            yield Cycle.model_validate(
                {
                    "kind": _CYCLES[value],
                    "owner": "system",
                    "action": name,
                    "target": action["target"],
                    "value": value,
                    "needs_off": value == "AuxPowerCycle",
                }
            )
