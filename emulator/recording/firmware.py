"""The firmware of a recorded server: each entry of its inventory can be flashed."""

import re
from collections.abc import Iterable

from emulator.persona.firmware import Activation, Component, Inventory
from emulator.recording.recording import Recording
from emulator.tree.document import ROOT, Document

_BIOS = re.compile(r"BIOS|UEFI|System ROM$")
_BMC = re.compile(r"BMC|iLO|iDRAC|XCC|Remote Access Controller")
_OF_ANOTHER = re.compile(r"erot|hgx|backup|golden|staging|pending|previous|config", re.IGNORECASE)
_ACTIVATIONS: dict[str, Activation] = {"bmc": "bmc_reset", "bios": "host_reset"}
_FLASH_SECONDS = 300.0


def inventory_of(recording: Recording, host: Document, manager: Document) -> tuple[Inventory, ...]:
    """An entry for each recorded one, in order; which of them are the BMC's and the BIOS's, names and versions tell."""
    service = recording.get(f"{ROOT}/UpdateService")
    entries = [entry for entry in recording.members(service.get("FirmwareInventory")) if _id(entry)]
    bmc = _running(entries, _BMC, manager.get("FirmwareVersion"))
    bios = _running(entries, _BIOS, host.get("BiosVersion"))
    return tuple(_entry(entry, bmc=bmc, bios=bios) for entry in entries)


def components_of(inventory: Iterable[Inventory]) -> dict[str, Component]:
    """One class for each kind of entry; the newest version is an invented one."""
    return {
        entry.component: Component(
            activation=_ACTIVATIONS.get(entry.component, "power_cycle"),
            flash_seconds=_FLASH_SECONDS,
            newest=f"{entry.version}-next",
        )
        for entry in inventory
    }


def _running(entries: list[Document], pattern: re.Pattern[str], version: object) -> str:
    """The id of the entry of that name, if there are several of the one that has this version; empty: none."""
    named = [entry for entry in entries if _is_named(entry, pattern)]
    same = [entry for entry in named if _first_word(entry.get("Version")) in str(version)]
    return _id((same or named or [{}])[0])


def _is_named(entry: Document, pattern: re.Pattern[str]) -> bool:
    names = (_id(entry), str(entry.get("Name", "")))
    return any(pattern.search(name) for name in names) and not _OF_ANOTHER.search(" ".join(names))


def _first_word(version: object) -> str:
    return str(version or "-").split(maxsplit=1)[0]


def _entry(entry: Document, *, bmc: str, bios: str) -> Inventory:
    identity = _id(entry)
    known = {bmc: "bmc", bios: "bios"}
    slug = re.sub(r"[^a-z]+", "-", identity.lower()).strip("-")
    return Inventory(
        component=known.get(identity) or slug or "firmware",
        id=identity,
        name=str(entry.get("Name") or identity),
        version=str(entry.get("Version") or ""),
        updateable=entry.get("Updateable") is not False,
    )


def _id(entry: Document) -> str:
    return str(entry.get("@odata.id", "")).rstrip("/").rpartition("/")[2]
