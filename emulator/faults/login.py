"""Faults of logging in: passwords, sessions, locks."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "wrong-password",
        "the factory password is `password`, not what the label says",
        "dsx-ai-factory/infra-controller#1294",
        {"password": "LeftByTheLastOwner1"},
    ),
    Fault("session-limit", "only `limit` sessions may be open", "bb-Ricardo/check_redfish#89", {"limit": 0}),
)
