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
    more_accounts: list[dict[str, Any]] = field(default_factory=list)
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
    uefi_target: str = ""
    """The device path of a boot from UefiTarget."""
    secure_boot: bool = False
    secure_boot_wanted: bool | None = None
    """What the next boot is to have; None: as it is."""
    secure_boot_keys: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Entries of databases that clients changed, by the path of the collection and their ids."""
    firmware: dict[str, str] = field(default_factory=dict)
    staged: dict[str, str] = field(default_factory=dict)
    staged_until: dict[str, str] = field(default_factory=dict)
    """What a staged version waits for, by slot, where it is not what its component class declares."""
    previous: dict[str, str] = field(default_factory=dict)
    """What the other slot of a device holds, once it is not the version of the factory."""
    copying: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    """Slots whose staged image will not start, or whose only image is half written."""
    uploads: list[dict[str, Any]] = field(default_factory=list)
    scheduled: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    bios: dict[str, Attribute] = field(default_factory=dict)
    bios_pending: dict[str, Attribute] = field(default_factory=dict)
    bios_rejected: list[str] = field(default_factory=list)
    bios_shown: dict[str, Attribute | None] = field(default_factory=dict)
    """What the BMC still says, although other values are in force."""
    bios_apply: str = ""
    """When pending values are applied; empty: they wait for an apply time or a job."""
    bios_window: list[float] = field(default_factory=list)
    """Begin and end of the maintenance window, seconds since 1970."""
    bios_job: str = ""
    bios_applied_at: float = 0.0
    bios_passwords: dict[str, str] = field(default_factory=dict)
    boots: int = 0
    boot_failures: int = 0
    resets: int = 0
    switched: int = 0
    bmc_resets: int = 0
    failed_logins: int = 0
    written: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Properties that clients wrote, by the path of the resource."""
    flashes: dict[str, dict[str, int]] = field(default_factory=dict)
    faults_spent: dict[str, int] = field(default_factory=dict)
    csr_key: str = ""
    """The private key that waits for its certificate, as PEM."""
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Subscriptions to events, by id."""


def read_state(path: Path) -> State | None:
    """The state kept at `path`, or None when the machine is new."""
    return State(**orjson.loads(path.read_bytes())) if path.exists() else None


def packed(state: State) -> bytes:
    """`state` as its file holds it."""
    return orjson.dumps(state)


def write_secret(path: Path, content: bytes) -> None:
    """Keep `content` at `path`, for nobody else to read: afterwards the file holds all of it or the previous one."""
    new = path.with_suffix(".new")
    new.touch(mode=0o600)
    new.write_bytes(content)
    new.replace(path)
