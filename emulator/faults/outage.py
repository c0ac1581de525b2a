"""Faults of the minutes in which a BMC restarts."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "bmc-back-late",
        "after a restart the BMC takes no connection for `seconds` more (at speed 0: of the wall clock)",
        "Mellanox/dpu-update#96",
        {"seconds": 300.0},
    ),
    Fault(
        "inventory-late",
        "the firmware inventory answers 503 for `seconds` after the BMC is back",
        "fwupd/fwupd#4531",
        {"seconds": 40.0},
    ),
    Fault(
        "bmc-outage-profile",
        "after a restart the BMC takes no connection for `refuse` s more, then answers 503 for `unavailable` s, then "
        "401 for `login` s, then half of the firmware inventory for `partial` s",
        "sonic-net/sonic-platform-common#707",
        {"refuse": 0.0, "unavailable": 30.0, "login": 30.0, "partial": 30.0},
    ),
    Fault(
        "reset-during-self-reboot",
        "a Manager.Reset while the BMC restarts by itself, or up to `seconds` after, leaves it answering 503 for ever",
        "fwupd/fwupd#6544",
        {"seconds": 60.0},
    ),
)
