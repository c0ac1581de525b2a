"""Faults of BIOS settings."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "bios-late-rejection",
        "BIOS attributes are accepted, and not applied after the reset (`attributes`: only these; empty: all)",
        "HewlettPackard/python-ilorest-library#91",
        {"attributes": ()},
    ),
    Fault(
        "bios-takes-text",
        "text is accepted for a BIOS attribute of another type and stored as it is",
        "ironcore-dev/metal-operator#1049",
    ),
    Fault(
        "bios-needs-apply-time",
        "pending BIOS values stay pending, whatever is reset, until an apply time is sent or a job is made",
        "dell/iDRAC-Redfish-Scripting#84",
    ),
    Fault(
        "bios-config-job",
        "an apply time makes a job; nothing more may be set while it waits, and deleting it drops its values",
        "dell/iDRAC-Redfish-Scripting#249",
    ),
    Fault("bios-busy-with-job", "503 for changes while BIOS values or a job are pending", "quadsproject/badfish#1"),
    Fault(
        "bios-not-ready",
        "a change of BIOS settings is answered with 400 and a message that means not ready (`message_id`)",
        "quadsproject/badfish#129",
        {"message_id": "IDRAC.1.6.SWC0700"},
    ),
    Fault("bios-shows-pending", "Bios shows pending values before they are applied", "dsx-ai-factory/libredfish#25"),
    Fault(
        "bios-settings-moved",
        "the settings object of the BIOS is elsewhere (PendingSettings), and the old path answers 404",
        "dsx-ai-factory/libredfish#28",
    ),
    Fault(
        "bios-lazy-settings",
        "the settings object of the BIOS answers 404 until Bios was read",
        "dsx-ai-factory/libredfish#127",
    ),
    Fault(
        "bios-attribute-renamed",
        "the attribute `old` is called `new` on this model, in Bios and in its registry",
        "dell/iDRAC-Redfish-Scripting#319, dsx-ai-factory/infra-controller#5215",
        {"old": "SetBootOrderEn", "new": "SetBootOrderFqdd1"},
    ),
    Fault(
        "bios-misnames-attribute",
        "an attribute that is not there is refused as a value that is not in the list",
        "dsx-ai-factory/infra-controller#5215",
    ),
    Fault(
        "bios-no-settings",
        "Bios has no settings object and is written itself (`how`: no-object), or one without Attributes "
        "while nothing is pending (no-attributes)",
        "DMTF/Redfish-Tacklebox#55",
        {"how": "no-object"},
        {"how": ("no-object", "no-attributes")},
    ),
    Fault(
        "bios-shows-old-values",
        "after the reset that applied them, Bios shows the old values until the next one",
        "HewlettPackard/python-ilorest-library#105",
        {"times": 1},
    ),
    Fault(
        "bios-partial-change",
        "of a change with a bad attribute the good ones are taken: 200 with a message beside the bad one",
        "ibm-openbmc/bmcweb#70",
    ),
    Fault(
        "bios-reset-needs-body",
        "ResetBios without a JSON body is refused: 415 without a content type, 400 without a body",
        "openstack/sushy, release note fix-2008198",
    ),
    Fault(
        "bios-job-changes-nothing",
        "BIOS values are gone after the reset and not applied; a job ends in Completed",
        "dell/terraform-provider-redfish#231",
    ),
    Fault(
        "bios-defaults-after-update",
        "an update of the BIOS takes its settings and the boot order back to the factory's",
        "tianocore/edk2-redfish-client#96",
    ),
)
