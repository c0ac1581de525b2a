"""All faults, and how a file, an option or a caller names one."""

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any

from emulator.faults import bios, boot, events, hardware, login, network_boot, outage, protocol, task, transport, update
from emulator.faults.arguments import complete, unknown
from emulator.faults.fault import Arguments, Fault
from emulator.faults.inventory import FLEET_FAULTS

CONCERNS: Mapping[str, tuple[Fault, ...]] = MappingProxyType(
    {
        "The connection and whole answers": transport.FAULTS,
        "Logging in": login.FAULTS,
        "ETags, queries, messages and links": protocol.FAULTS,
        "Firmware updates": update.FAULTS,
        "Tasks and jobs": task.FAULTS,
        "The minutes of a restart of the BMC": outage.FAULTS,
        "BIOS settings": bios.FAULTS,
        "Power, boot and what runs on the node": boot.FAULTS,
        "Network boot, from HttpBootUri to the root": network_boot.FAULTS,
        "Parts, sensors and labels": hardware.FAULTS,
        "Events, logs, metric reports and virtual media": events.FAULTS,
    }
)

FAULTS: tuple[Fault, ...] = tuple(chain.from_iterable(CONCERNS.values()))

BY_NAME: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in FAULTS})


def read_fault(setting: str | Mapping[str, Arguments | None], /) -> tuple[str, dict[str, Any]]:
    """A fault as a file, an option or a caller names it: `name` or `{name: {argument: value}}`.

    Returns its name and all its arguments. Raises ValueError for an unknown fault or argument, or a value that is none.
    """
    if not isinstance(setting, str) and len(setting) != 1:
        raise ValueError(f"a fault is a name or one name with its arguments, not {setting!r}")
    name, given = (setting, None) if isinstance(setting, str) else next(iter(setting.items()))
    if name in (fault.name for fault in FLEET_FAULTS):
        raise ValueError(f"{name} is a fault of the fleet, not of one BMC; give it as a fault rate")
    if name not in BY_NAME:
        raise ValueError(unknown("fault", name, list(BY_NAME), "`firstlight-emulator faults` lists them"))
    return name, complete(BY_NAME[name], given or {})
