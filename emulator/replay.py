"""Recorded trees as the BMCs of a fleet."""

import re
import uuid
from collections.abc import Sequence
from pathlib import Path

from emulator.config import BmcEntry
from emulator.errors import ConfigError
from emulator.kind import RECORDING, load_kind
from emulator.tree import places
from emulator.tree.document import Document

_NETWORK = re.compile(r"127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){2}")


def recorded_bmcs(directories: Sequence[Path], network: str, power: str | None) -> list[BmcEntry]:
    """A BMC for each recorded tree, at `network`.1, .2, ...; `power` None: as it was recorded. Raises ConfigError."""
    if len(directories) > 254:
        raise ConfigError("replay: at most 254 trees at once")
    if not _NETWORK.fullmatch(network):
        raise ConfigError(f"--network {network}: give the first three numbers of the addresses, such as 127.30.0")
    return [_entry(directory, f"{network}.{number}", power) for number, directory in enumerate(directories, 1)]


def recorded_kind(directory: Path) -> str:
    """The name of the kind of machine that was recorded in `directory`."""
    return f"{RECORDING}{directory.resolve()}"


def _entry(directory: Path, address: str, power: str | None) -> BmcEntry:
    name = recorded_kind(directory)
    kind = load_kind(name)
    host: Document = kind.tree.render(places.host(kind.persona), lambda *_: "") or {}
    try:
        return BmcEntry(
            name=re.sub(r"[^A-Za-z0-9._-]+", "-", directory.name).strip("-._") or "recorded",
            address=address,
            persona=name,
            serial=str(host.get("SerialNumber") or "").strip() or "RECORDED",
            uuid=str(host.get("UUID") or uuid.uuid5(uuid.NAMESPACE_URL, directory.name)),
            power=power or ("On" if host.get("PowerState") == "On" else "Off"),
        )
    except ValueError as error:
        raise ConfigError(f"replay {directory}: {error}") from error
