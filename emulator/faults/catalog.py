"""All faults, and how a file, an option or a caller names one."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from emulator.faults import bios, boot, events, hardware, outage, protocol, task, transport, update
from emulator.faults.fault import Arguments, Fault

FAULTS: tuple[Fault, ...] = (
    *transport.FAULTS,
    *protocol.FAULTS,
    *update.FAULTS,
    *task.FAULTS,
    *outage.FAULTS,
    *bios.FAULTS,
    *boot.FAULTS,
    *hardware.FAULTS,
    *events.FAULTS,
)

BY_NAME: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in FAULTS})


def read_fault(setting: str | Mapping[str, Arguments | None], /) -> tuple[str, dict[str, Any]]:
    """A fault as a file, an option or a caller names it: `name` or `{name: {argument: value}}`.

    Returns its name and all its arguments. Raises ValueError for an unknown fault or argument.
    """
    if not isinstance(setting, str) and len(setting) != 1:
        raise ValueError(f"a fault is a name or one name with its arguments, not {setting!r}")
    name, given = (setting, None) if isinstance(setting, str) else next(iter(setting.items()))
    if name not in BY_NAME:
        raise ValueError(_unknown("fault", name, list(BY_NAME)))
    arguments: dict[str, Any] = {"times": None, **BY_NAME[name].arguments}
    for key, value in (given or {}).items():
        if key not in arguments:
            raise ValueError(f"{name}: {_unknown('argument', key, list(arguments))}")
        if _is_number(arguments[key]) and not _is_number(value):
            raise ValueError(f"{name}: {key} is a number, not {value!r}")
        arguments[key] = value
    return name, arguments


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"unknown {kind} '{name}'; " + (f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}")
