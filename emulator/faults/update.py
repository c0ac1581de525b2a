"""Faults of firmware updates and tasks."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "task-vanishes",
        "the task answers 404 (`when`: start or completion) while the flash succeeds",
        "ironcore-dev/metal-operator#617",
        {"when": "completion"},
    ),
    Fault("task-fails", "the task ends in Exception, nothing is flashed", "ironcore-dev/metal-operator#453"),
    Fault(
        "flash-completes-old-version",
        "the task ends in Completed, the version stays as it was",
        "openbmc/bmcweb#206",
        {"component": ""},
    ),
)
