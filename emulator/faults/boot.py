"""Faults of power and boot, and of what runs on the node."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "power-state-conflict",
        "a reset that does not fit the power state is refused with `status`: On while on, ForceRestart while off",
        "openstack-k8s-operators/infra-operator#434 (409), goldyfruit/ansible-ilo#1 (400)",
        {"status": 409},
    ),
    Fault(
        "power-lost-while-booting",
        "the host loses power while it boots and stays off",
        "operate-first/operations#356",
        {"times": 1},
    ),
    Fault(
        "agent-killed",
        "the process on the node is killed `seconds` seconds of the wall clock after its start",
        "buildkite/elastic-ci-stack-for-aws#882",
        {"times": 1, "seconds": 2.0},
    ),
    Fault(
        "burn-in-check-fails",
        "a stand-in's check fails with a wrong answer (`check`: an item or a kind of check; empty: any; `image`: only "
        "where it has booted an image whose digest begins so)",
        "wilicc/gpu-burn#12",
        {"check": "", "image": ""},
    ),
    Fault(
        "boot-mode-refused",
        "BootSourceOverrideMode cannot be written",
        "ansible-collections/community.general#3509",
    ),
    Fault(
        "boot-mode-reverts",
        "an override that is written without a mode sets BootSourceOverrideMode back to the first one, Legacy",
        "DMTF/Redfishtool#106",
    ),
    Fault(
        "boot-mode-misspelt",
        "BootSourceOverrideMode reads `shown`, which is no value of the schema",
        "openstack/sushy, release note fix-malformed-boot-mode",
        {"shown": "Uefi"},
    ),
    Fault(
        "boot-disable-needs-mode",
        "an override is disabled only together with BootSourceOverrideMode",
        "ansible-collections/community.general#11543",
    ),
    Fault(
        "boot-disable-needs-target",
        "BootSourceOverrideEnabled is refused while the target is None",
        "ironcore-dev/metal-operator#998",
    ),
    Fault(
        "boot-at-settings",
        "overrides are refused at the system; they belong to its future state, which @Redfish.Settings names",
        "DMTF/Redfish-Tacklebox#144",
    ),
    Fault(
        "boot-override-absent",
        "Boot has no property for an override, nor BootNext",
        "dsx-ai-factory/infra-controller#5178",
    ),
    Fault(
        "boot-settings-absent",
        "Oem/Lenovo/BootSettings answers 404, and no BIOS attribute holds the order either",
        "dsx-ai-factory/infra-controller#5178",
    ),
    Fault(
        "boot-continuous-forgotten",
        "an override that is Continuous is disabled after the boot, as one for Once is",
        "dell/terraform-provider-redfish#138",
    ),
    Fault(
        "boot-cd-is-usbcd",
        "virtual CDs boot as UsbCd only, Cd is not offered",
        "openstack/sushy, release note change-bootdev-smc",
    ),
    Fault(
        "boot-refuses-unchanged",
        "a write to Boot is refused when it holds a property that does not change",
        "openstack/sushy, release note decouple-boot-params",
    ),
    Fault("boot-once-kept", "an override for Once is not used up by the boot", "kubevirtbmc/kubevirtbmc#165"),
    Fault(
        "boot-once-lost",
        "an override for Once is used up, and the host boots as if there was none",
        "ironcore-dev/metal-operator#80",
    ),
    Fault("graceful-restart-not-offered", "GracefulRestart is no reset type", "DMTF/Redfish-Tacklebox#82"),
    Fault("power-cycle-not-offered", "PowerCycle is no reset type", "dsx-ai-factory/infra-controller#3058"),
    Fault(
        "power-cut-not-offered",
        "there is no verb that cuts standby power or the mains: somebody has to pull the cords",
        "dsx-ai-factory/infra-controller#3480",
    ),
    Fault("graceful-restart-is-hard", "GracefulRestart resets at once", "dell/iDRAC-Redfish-Scripting#29"),
    Fault(
        "shutdown-ignored",
        "the operating system does not react to GracefulShutdown, GracefulRestart or the power button",
        "ironcore-dev/metal-operator#129",
    ),
    Fault("reset-ignored", "a reset of the host is accepted, nothing happens", "xcat2/xcat-core#5410"),
    Fault(
        "system-empty-in-transition",
        "the system answers 200 with an empty body for `seconds` seconds of the wall clock after a reset",
        "device-management-toolkit/console#1051",
        {"seconds": 2.0},
    ),
    Fault(
        "power-state-between",
        "PowerState is PoweringOn or PoweringOff for `seconds` seconds of the wall clock after a reset",
        "ibm-openbmc/dev#3595",
        {"seconds": 2.0},
    ),
    Fault(
        "power-state-stale",
        "PowerState is the old one for `seconds` seconds of the wall clock after a reset",
        "openbmc/openbmc#804",
        {"seconds": 2.0},
    ),
)
