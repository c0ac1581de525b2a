"""Faults of tasks and jobs: where they are said to be, what they say, how they end."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "task-vanishes",
        "the task answers 404 (`when`: start, completion, or poll: after `polls` looks) while the flash succeeds",
        "ironcore-dev/metal-operator#617",
        {"when": "completion", "polls": 3},
        {"when": ("start", "completion", "poll")},
    ),
    Fault("task-fails", "the task ends in Exception, nothing is flashed", "ironcore-dev/metal-operator#453"),
    Fault(
        "task-ends",
        "the task ends with `state`, `status` and `message_id`, the version is `new` or `old`; `bmc_reset`: the BMC "
        "restarts then",
        "ironcore-dev/metal-operator#453",
        {
            "state": "Completed",
            "status": "Critical",
            "version": "old",
            "message_id": "IDRAC.2.8.JCP037",
            "bmc_reset": False,
        },
        {
            "state": (
                "Completed",
                "Exception",
                "Killed",
                "Cancelled",
                "Interrupted",
                "Suspended",
                "Stopping",
                "Service",
            ),
            "status": ("OK", "Warning", "Critical"),
            "version": ("new", "old"),
        },
    ),
    Fault(
        "task-never-ends",
        "the task stays in Running for ever",
        "metal3-io/baremetal-operator#3001",
    ),
    Fault("task-percent-constant", "PercentComplete stays at `percent`", "fwupd/fwupd#7593", {"percent": 40}),
    Fault(
        "task-oem-messages",
        "the task has a message of a registry that nobody knows",
        "ibm-openbmc/bmcweb#519",
        {"message_id": "AcmeUpdate.0.9.ComponentStatus"},
    ),
    Fault(
        "task-location",
        "where a new task is named: header, body, message, none; absolute, relative, internal-host: how Location is",
        "metal-toolbox/bmclib#399",
        {"where": "body"},
        {"where": ("header", "body", "message", "none", "absolute", "relative", "internal-host")},
    ),
    Fault(
        "update-names-no-task",
        "an update answers 200 with a message; it runs and no task shows it",
        "ibm-openbmc/dev#2522",
    ),
    Fault("post-answers-303", "an update answers 303 See Other with the task", "DMTF/python-redfish-library#98"),
    Fault("task-get-202", "GET of a task that runs answers 202", "DMTF/Redfish-Service-Validator#384"),
    Fault(
        "monitor-missing",
        "the task monitor answers 404, the task itself is there",
        "openstack/sushy, release note fixes-ilo5-redfish-firmware-update",
    ),
    Fault(
        "job-waits-for-reset",
        "an update stays Scheduled until the host is reset, then runs in its POST (`component`: only this class)",
        "dell/iDRAC-Redfish-Scripting#32",
        {"component": ""},
    ),
    Fault(
        "foreign-task",
        "a task of somebody else runs for ever (`busy`: updates are refused meanwhile)",
        "quadsproject/badfish#29",
        {"name": "Update by another client", "busy": True},
    ),
    Fault(
        "image-not-fetched",
        "of a pull no more than `bytes` arrive (0: the server is never reached); then its task ends in Exception, or "
        "stays as it is (`hangs`)",
        "dell/iDRAC-Redfish-Scripting#314: the job of a pull fails, a push of the same image works",
        {"bytes": 0, "hangs": False},
    ),
)
