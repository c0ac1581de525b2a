"""Faults of events and logs."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = ()
