"""What every part of one machine shares."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from emulator.clock import Clock
from emulator.config import BmcEntry
from emulator.faults.active import ActiveFaults
from emulator.machine.state import State, read_state, write_state
from emulator.persona.load import load_persona
from emulator.persona.persona import Persona


@dataclass(slots=True)
class Board:
    """The identity, the kind and the memory of one machine; `directory` is its own folder of the state folder."""

    entry: BmcEntry
    persona: Persona
    clock: Clock
    directory: Path
    state: State
    faults: ActiveFaults

    def save(self) -> None:
        """Remember the state; call it after each change."""
        write_state(self.directory / "state.json", self.state)

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
    def bios_version(self) -> str:
        """BiosVersion as the system shows it."""
        slot = next(slot for slot in self.persona.slots.values() if slot.component == "bios")
        found = re.search(self.persona.system.version_pattern, self.version(slot.key))
        return found.group(1) if found else ""

    @property
    def bmc_version(self) -> str:
        """The version that the manager runs."""
        return self.version(next(slot.key for slot in self.persona.slots.values() if slot.component == "bmc"))

    def version(self, key: str) -> str:
        """The version that runs in a firmware slot."""
        return self.state.firmware.get(key) or self.persona.slots[key].version

    def mac(self, number: int) -> str:
        """The MAC address of the port `number` of the host; the BMC has number -1."""
        digest = hashlib.sha256(f"{self.uuid} {number}".encode()).digest()
        return ":".join([self.persona.mac_prefix, *(f"{byte:02X}" for byte in digest[:3])])


def open_board(entry: BmcEntry, clock: Clock, state_dir: Path) -> Board:
    """The board of `entry` as it was when it was last used, or new from the factory."""
    persona = load_persona(entry.persona)
    directory = state_dir / entry.name
    directory.mkdir(parents=True, exist_ok=True)
    state = read_state(directory / "state.json")
    if state is None:
        state = State(persona.accounts.username, entry.password(persona), power=entry.power)
    faults = ActiveFaults(state.faults_spent)
    for setting in entry.faults:
        if not state.password_changed or "wrong-password" not in setting:
            faults.plant(setting)
    return Board(entry, persona, clock, directory, state, faults)
