"""PowerState as the BMC shows it: true, late or old."""

import time

from emulator.machine.machine import Machine
from emulator.tree import places


def shown_power(machine: Machine) -> str:
    """What the BMC says of the host's power."""
    host, faults = machine.host, machine.board.faults
    stale = faults.peek("power-state-stale")
    if stale and since_asked(machine) < float(stale["seconds"]):
        return host.power_before
    between = faults.peek("power-state-between")
    if between and since_asked(machine) < float(between["seconds"]):
        return "PoweringOn" if host.power_before == "Off" else "PoweringOff"
    return host.power


def is_empty(machine: Machine, path: str) -> bool:
    """Whether the system at `path` answers with nothing because its power is about to change."""
    fault = machine.board.faults.peek("system-empty-in-transition")
    host = places.host(machine.board.persona)
    return fault is not None and path == host and since_asked(machine) < float(fault["seconds"])


def since_asked(machine: Machine) -> float:
    """Seconds of the wall clock since somebody asked for another power state."""
    return time.monotonic() - machine.host.asked_at
