"""What goes wrong with firmware updates in the field, one server each."""

from itertools import product
from typing import Any

from profiles.firmware.component import FirmwareComponent
from tests.firmware.workshop import Case

CPLD = ("cpld",)
GPU = ("gpu-vbios",)
_STATES = ("Completed", "Exception", "Killed", "Cancelled", "Interrupted", "Suspended", "Stopping")


def _one(
    fault: str, *, persona: str = "hgx-h100", held: str = "", only: tuple[str, ...] = CPLD, **arguments: Any
) -> Case:
    words = " ".join(f"{key}={value}" for key, value in arguments.items())
    return Case(f"{fault} {words}".strip(), {fault: arguments}, persona, only, held)


HEALTHY = tuple(
    Case(f"healthy {persona}", persona=persona, newest=True)
    for persona in ("hgx-h100", "dell-xe9680", "gb200-compute-tray", "hpe-xl675d", "lenovo-sr670v2")
)
ENDS = tuple(
    Case(
        f"task ends {state} {status} {version}",
        {"task-ends": {"state": state, "status": status, "version": version, "times": 1}},
        only=CPLD,
        tries=2,
    )
    for state, status, version in product(_STATES, ("OK", "Warning", "Critical"), ("old", "new"))
)
TASKS = (
    _one("task-vanishes", when="start"),
    _one("task-vanishes", when="completion"),
    *(_one("task-vanishes", when="poll", polls=polls) for polls in (1, 2, 3)),
    _one("task-fails", times=1),
    _one("task-percent-constant"),
    _one("task-oem-messages"),
    *(
        _one("task-location", where=where)
        for where in ("header", "body", "message", "none", "absolute", "relative", "internal-host")
    ),
    _one("update-names-no-task"),
    _one("post-answers-303"),
    _one("task-get-202"),
    _one("monitor-missing"),
    _one("job-waits-for-reset", persona="dell-xe9680", only=("bios",)),
    _one("job-waits-for-reset"),
    _one("task-never-ends", held="has shown no progress"),
    _one("foreign-task", held="Update by another client"),
    _one("foreign-task", busy=False, held="Update by another client"),
)


def _older(one: FirmwareComponent) -> FirmwareComponent:
    """A version before the one that the server came with."""
    artefact = one.artefact.model_copy(update={"file": "hgx-h100/cpld-older.fw", "sha256": "e" * 64})
    return one.model_copy(update={"version": "F5.11.CA", "artefact": artefact, "releases": ()})


UPDATES = (
    Case("downgrade-blocked", {"downgrade-blocked": {}}, only=CPLD, held="ForceUpdate is needed", change=_older),
    _one("post-answer-lost", path="UpdateService", times=1),
    _one("flash-completes-old-version", times=1),
    _one("flash-completes-old-version", held="CPLD_Motherboard runs F5.11.CB"),
    _one("activation-blocked", held="CPLD_Motherboard runs F5.11.CB"),
    _one("staged-shown-enabled"),
    _one("pending-shown-as-current", only=("cpld", "bios")),
    _one("inventory-stale", only=("bmc",)),
    _one("inventory-renamed", only=("bmc", "gpu-vbios")),
    _one("image-size-limit", bytes=1000, held="takes no more than 1000"),
    _one("only-http-push"),
    _one("update-method-refused", method="SimpleUpdate"),
    _one("update-method-refused", held="The action is not supported"),
    _one("push-answers-200-with-error", held="meant no"),
    _one("strict-parts"),
    _one("one-target-only", only=GPU),
    _one("one-target-only", only=GPU, persona="dell-xe9680"),
    _one("needs-start-update"),
    _one("needs-start-update", only=("bmc", "cpld")),
    _one("update-service-500", times=3),
    _one("chassis-stays-old", only=GPU),
)
OUTAGES = (
    _one("bmc-back-late", only=("bmc",), seconds=120.0),
    _one("inventory-late", only=("bmc",), seconds=40.0),
    _one("bmc-outage-profile", only=("bmc",)),
    _one("bmc-outage-profile", only=("bmc",), persona="gb200-compute-tray", refuse=60.0, partial=60.0),
    _one("reset-during-self-reboot", only=("bmc",)),
    _one("service-unavailable", times=6, only=("bmc", "cpld")),
    _one("sessions-forgotten", only=("bmc", "cpld"), times=3),
)
ALL = (*HEALTHY, *ENDS, *TASKS, *UPDATES, *OUTAGES)
