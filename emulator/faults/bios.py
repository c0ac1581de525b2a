"""Faults of BIOS settings."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "bios-late-rejection",
        "BIOS attributes are accepted, and not applied after the reset (`attributes`: only these; empty: all)",
        "HewlettPackard/python-ilorest-library#91",
        {"attributes": ()},
    ),
)
