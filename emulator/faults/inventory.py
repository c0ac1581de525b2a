"""Faults of a fleet rather than of one BMC; only `fault_rates` can set them."""

from emulator.faults.fault import Fault

WRONG_SLOT = Fault(
    "wrong-slot",
    "two neighbours of one kind are swapped: each answers at the other's address",
    "oxidecomputer/omicron#8130",
)

FLEET_FAULTS: tuple[Fault, ...] = (WRONG_SLOT,)
