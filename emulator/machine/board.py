"""What every part of one machine shares."""

import hashlib
import re
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from emulator.clock import Clock
from emulator.config import BmcEntry
from emulator.faults.active import ActiveFaults
from emulator.kind import Kind, load_kind
from emulator.machine.events import Events
from emulator.machine.power_feeds import NONE
from emulator.machine.state import State
from emulator.machine.state_folder import StateFolder
from emulator.persona.persona import Persona
from emulator.tree.document import Document


@dataclass(slots=True)
class Board:
    """The identity, the kind and the memory of one machine."""

    entry: BmcEntry
    kind: Kind
    clock: Clock
    folder: StateFolder
    state: State
    faults: ActiveFaults
    revision: int = 0
    events: Events = field(default_factory=Events)
    lost_feeds: frozenset[str] = NONE

    @property
    def persona(self) -> Persona:
        """How this kind of server looks and behaves."""
        return self.kind.persona

    def touch(self) -> None:
        """Something that a client may see has changed: no answer of before is good any more."""
        self.revision += 1

    def save(self) -> None:
        """Remember the state; call it after each change."""
        self.touch()
        self.folder.save(self.entry.name, self.state)

    @property
    def directory(self) -> Path:
        """The folder of the files of this machine; whoever needs it makes it."""
        return self.folder.directory(self.entry.name)

    @property
    def serial(self) -> str:
        """The serial number that the machine reports."""
        for name in ("duplicate-serial", "placeholder-serial"):
            fault = self.faults.peek(name)
            if fault:
                return str(fault["serial"])
        return self.entry.serial

    @property
    def uuid(self) -> str:
        """The SMBIOS UUID of the host."""
        return self.entry.uuid.lower()

    @property
    def bios_version(self) -> str | None:
        """BiosVersion as the system shows it; None: as its document says."""
        version = self._running("bios")
        found = re.search(self.persona.system.version_pattern, version) if version is not None else None
        return found.group(1) if found else version

    @property
    def bmc_version(self) -> str | None:
        """The version that the manager runs; None: what its document says."""
        return self._running("bmc")

    def document(self, path: str) -> Document | None:
        """The resource at `path` as it left the factory, with the identities of this machine; None: there is none."""
        return self.kind.tree.render(path, self._identity)

    def version(self, key: str) -> str:
        """The version that runs in a firmware slot."""
        return self.state.firmware.get(key) or self.persona.slots[key].version

    def mac(self, number: int) -> str:
        """The MAC address of the port `number` of the host; the BMC has number -1."""
        return self.entry.mac(self.persona, number)

    def _running(self, component: str) -> str | None:
        """The version of a component class; None while a recorded server still runs what was recorded."""
        slot = next((slot for slot in self.persona.slots.values() if slot.component == component), None)
        if slot is None or (self.kind.recorded and slot.key not in self.state.firmware):
            return None
        return self.version(slot.key)

    def _identity(self, name: str, part: str) -> str:
        """What a mark `${name:part}` of a document stands for; every part has its own, always the same."""
        if name == "mac":
            return self.mac(int(part))
        if name in ("serial", "uuid") and not part:
            return self.serial if name == "serial" else self.uuid
        if name in ("address", "name", "rack", "position"):
            return str(getattr(self.entry, name))
        digest = hashlib.sha256(f"{self.uuid} {part}".encode()).digest()
        match name:
            case "uuid":
                return str(uuid.UUID(bytes=digest[:16], version=4))
            case "number":
                return f"1{int.from_bytes(digest[:8]) % 10**12:012}"
            case "guid":
                return ":".join(digest[start : start + 2].hex().upper() for start in range(0, 8, 2))
            case "hex":
                return digest[:4].hex().upper()
        raise ValueError(f"unknown mark ${{{name}}}")


def open_board(entry: BmcEntry, clock: Clock, folder: StateFolder) -> Board:
    """The board of `entry` as it was when it was last used, or new from the factory. Raises ConfigError."""
    kind = load_kind(entry.persona)
    persona = kind.persona
    factory = State(persona.accounts.username, entry.password(persona), power=entry.power, installed=entry.installed)
    state = folder.open(entry.name, factory)
    faults = ActiveFaults(state.faults_spent)
    for setting in entry.faults:
        if not state.password_changed or "wrong-password" not in setting:
            faults.plant(setting)
    return Board(entry, kind, clock, folder, state, faults)
