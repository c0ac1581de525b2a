"""Faults given on the command line."""

from typing import Any

import yaml

from emulator.config import BmcEntry, FleetConfig
from emulator.errors import ConfigError
from emulator.faults.catalog import read_fault


def with_faults(fleet: FleetConfig, options: list[str]) -> FleetConfig:
    """`fleet` with the faults of `BMC:FAULT[:argument=value,...]` options added. Raises ConfigError."""
    added: dict[str, list[dict[str, dict[str, Any]]]] = {}
    for option in options:
        bmc, setting = _read(option)
        if bmc not in {entry.name for entry in fleet.bmcs}:
            raise ConfigError(f"--fault {option}: no BMC is named '{bmc}'")
        added.setdefault(bmc, []).append(setting)
    bmcs = tuple(_add(entry, added.get(entry.name, [])) for entry in fleet.bmcs)
    return fleet.model_copy(update={"bmcs": bmcs})


def _read(option: str) -> tuple[str, dict[str, dict[str, Any]]]:
    bmc, _, rest = option.partition(":")
    name, _, given = rest.partition(":")
    pairs = (pair.partition("=") for pair in given.split(",") if pair)
    setting = {name: {key: yaml.safe_load(value) for key, _, value in pairs}}
    try:
        read_fault(setting)
    except ValueError as error:
        raise ConfigError(f"--fault {option}: {error}") from error
    return bmc, setting


def _add(entry: BmcEntry, faults: list[dict[str, dict[str, Any]]]) -> BmcEntry:
    return entry.model_copy(update={"faults": (*entry.faults, *faults)}) if faults else entry
