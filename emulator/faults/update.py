"""Faults of firmware updates: what is sent, what is flashed, what becomes active, what the inventory says of it."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "flash-completes-old-version",
        "the task ends in Completed, the version stays as it was",
        "openbmc/bmcweb#206",
        {"component": ""},
    ),
    Fault(
        "component-fails",
        "of a package for a whole board, the image of `component` cannot be verified; the others are written, and the "
        "task ends in `state` (Completed with status Warning)",
        "DMTF, DSP0267 1.3.0, ContinueComponentUpdatesAfterFailure; openbmc/pldm, fw-update/device_updater.cpp",
        {"component": "", "state": "Exception"},
        {"state": ("Exception", "Completed")},
    ),
    Fault(
        "activation-blocked",
        "what is staged never starts; its entry stays in Updating (`component`: only this class)",
        "openbmc/bmcweb#206",
        {"component": ""},
    ),
    Fault(
        "chassis-stays-old",
        "parts whose id begins with `prefix` have a power domain of their own: only an AC or aux cycle activates them "
        "(`mains`: only an AC cycle)",
        "dsx-ai-factory/infra-controller#3480",
        {"prefix": "HGX_", "mains": False},
    ),
    Fault(
        "staged-shown-enabled",
        "an image that waits for its activation is Enabled in the inventory, as the running one is",
        "openbmc/openbmc-test-automation#2230",
    ),
    Fault(
        "pending-shown-as-current",
        "the inventory shows the version that waits as the one that runs",
        "openbmc/phosphor-bmc-code-mgmt#13; dsx-ai-factory/libredfish#25 of BIOS settings",
    ),
    Fault(
        "inventory-stale",
        "the inventory shows the old version until the BMC is reset",
        "NVIDIA/open-nvfwupd, waiting for the inventory after an activation",
    ),
    Fault(
        "inventory-renamed",
        "new BMC firmware calls its parts otherwise: `old` in their ids becomes `new`",
        "sonic-net/sonic-buildimage#29631",
        {"old": "HGX_FW_", "new": "FW_"},
    ),
    Fault(
        "inventory-empty-after-failure",
        "after an update that failed the inventory is empty until the BMC is reset",
        "fwupd/fwupd#6954",
    ),
    Fault(
        "downgrade-blocked",
        "an older version than the running one is refused without ForceUpdate",
        "ibm-openbmc/dev#3026; HPE iLO 5, DowngradePolicy (Cray-HPE/csm-redfish-interface-emulator, XL675d)",
    ),
    Fault(
        "image-size-limit",
        "images of more than `bytes` are refused with 413, MaxImageSizeBytes says so",
        "DMTF/Redfish-Tacklebox#99",
        {"bytes": 73400320},
    ),
    Fault(
        "only-http-push",
        "there is HttpPushUri alone, for images of at most `bytes`",
        "DMTF/Redfish-Tacklebox#99",
        {"bytes": 73400320},
    ),
    Fault(
        "update-method-refused",
        "`method` (SimpleUpdate, multipart, push; empty: all) is advertised and refused with `status` and `text`",
        "fwupd/fwupd#5128: Supermicro BMCs without the licence for updates",
        {"method": "", "status": 400, "text": "The action is not supported by the resource."},
        {"method": ("", "SimpleUpdate", "multipart", "push")},
    ),
    Fault(
        "push-answers-200-with-error",
        "an update answers 200, with a success and an error message in the body; nothing is flashed",
        "openbmc/bmcweb#75",
    ),
    Fault(
        "strict-parts",
        "a multipart update whose parts have other names, order or media types than DSP0266 says is refused",
        "stmcginnis/gofish#132",
    ),
    Fault(
        "one-target-only",
        "an update for more than one target is refused with 400",
        "ansible-collections/community.general#5580",
    ),
    Fault(
        "needs-start-update",
        "images are only uploaded; there is no task before UpdateService.StartUpdate",
        "fwupd/fwupd#4836",
    ),
    Fault("update-service-500", "GET of the update service answers 500", "Intel-BMC/openbmc#45"),
)
