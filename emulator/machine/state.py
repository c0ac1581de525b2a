"""What a machine remembers when its power or the emulator goes away. One JSON file per BMC, replaced atomically."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from emulator.persona.bios import Attribute


@dataclass(slots=True)
class State:
    """Only differences from the persona are held: `firmware` and `bios` are what was changed since the factory."""

    username: str
    password: str
    password_changed: bool = False
    power: str = "Off"
    boot_target: str = "None"
    boot_enabled: str = "Disabled"
    boot_mode: str = "UEFI"
    http_boot_uri: str = ""
    boot_order: list[str] = field(default_factory=list)
    """References of boot options; empty: the factory's order."""
    boot_next: str = ""
    installed: str = ""
    """The operating system on the disk; empty: none."""
    media: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Images in virtual media, by drive."""
    secure_boot: bool = False
    firmware: dict[str, str] = field(default_factory=dict)
    staged: dict[str, str] = field(default_factory=dict)
    bios: dict[str, Attribute] = field(default_factory=dict)
    bios_pending: dict[str, Attribute] = field(default_factory=dict)
    bios_rejected: list[str] = field(default_factory=list)
    boots: int = 0
    boot_failures: int = 0
    resets: int = 0
    bmc_resets: int = 0
    failed_logins: int = 0
    written: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Properties that clients wrote, by the path of the resource."""
    flashes: dict[str, dict[str, int]] = field(default_factory=dict)
    faults_spent: dict[str, int] = field(default_factory=dict)


def read_state(path: Path) -> State | None:
    """The state kept at `path`, or None when the machine is new."""
    return State(**orjson.loads(path.read_bytes())) if path.exists() else None


def packed(state: State) -> bytes:
    """`state` as its file holds it."""
    return orjson.dumps(state)


def write_state(path: Path, content: bytes) -> None:
    """Keep a packed state at `path`: afterwards the file holds all of it or the previous one."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)
