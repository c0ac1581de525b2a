"""Faults given on the command line."""

from typing import Any

import yaml
from pydantic import ValidationError

from emulator.config import BmcEntry, FaultRate, FleetConfig
from emulator.errors import ConfigError
from emulator.faults.catalog import BY_NAME, read_fault
from emulator.faults.parts import check_part
from emulator.kind import load_kind


def with_faults(fleet: FleetConfig, options: list[str]) -> FleetConfig:
    """`fleet` with the faults of `BMC:FAULT[:argument=value,...]` options added. Raises ConfigError."""
    added: dict[str, list[dict[str, dict[str, Any]]]] = {}
    personas = {entry.name: entry.persona for entry in fleet.bmcs}
    for option in options:
        bmc, setting = _read(option)
        if bmc not in personas:
            raise ConfigError(f"--fault {option}: no BMC is named '{bmc}'; give BMC:FAULT, such as r01-u01:silent")
        try:
            check_part(load_kind(personas[bmc]).persona, *read_fault(setting))
        except ValueError as error:
            raise ConfigError(f"--fault {option}: {error}") from error
        added.setdefault(bmc, []).append(setting)
    bmcs = tuple(_add(entry, added.get(entry.name, [])) for entry in fleet.bmcs)
    return fleet.model_copy(update={"bmcs": bmcs})


def read_rates(options: list[str]) -> tuple[FaultRate, ...]:
    """The rates of `FAULT[:argument=value,...]=SHARE` options; a share is 0.02 or 2%. Raises ConfigError."""
    return tuple(_rate(option) for option in options)


def _read(option: str) -> tuple[str, dict[str, dict[str, Any]]]:
    bmc, _, rest = option.partition(":")
    name, _, given = rest.partition(":")
    if not name:
        raise ConfigError(f"--fault {option}: give BMC:FAULT, such as r01-u01:silent")
    setting = {name: _arguments(name, given)}
    try:
        read_fault(setting)
    except ValueError as error:
        raise ConfigError(f"--fault {option}: {error}") from error
    return bmc, setting


def _rate(option: str) -> FaultRate:
    setting, _, share = option.rpartition("=")
    name, _, given = setting.partition(":")
    try:
        return FaultRate(fault=name, share=_share(share), arguments=_arguments(name, given))
    except ValidationError as error:
        problem = error.errors()[0]
        reason = str(problem.get("ctx", {}).get("error", problem["msg"]))
        remedy = "; a share is 0 to 1, or 0% to 100%" if problem["loc"] == ("share",) else ""
        raise ConfigError(f"--fault-rate {option}: {reason}{remedy}") from error
    except ValueError as error:
        raise ConfigError(f"--fault-rate {option}: give FAULT=SHARE, such as silent=2% or silent=0.02") from error


def _share(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _arguments(name: str, given: str) -> dict[str, Any]:
    """`argument=value,...`, each read as what the fault's own value of it is."""
    known = BY_NAME[name].arguments if name in BY_NAME else {}
    pairs = (pair.partition("=") for pair in given.split(",") if pair)
    return {key: value if isinstance(known.get(key), str) else _value(value) for key, _, value in pairs}


def _value(text: str) -> Any:
    """A number, a list and so on; nothing at all is a text, so that `times` alone is none of a number."""
    try:
        return yaml.safe_load(text) if text else ""
    except yaml.YAMLError:
        return text


def _add(entry: BmcEntry, faults: list[dict[str, dict[str, Any]]]) -> BmcEntry:
    return entry.model_copy(update={"faults": (*entry.faults, *faults)}) if faults else entry
