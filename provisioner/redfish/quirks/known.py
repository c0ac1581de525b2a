"""All departures that we know and need to know, applied in this order."""

from dataclasses import replace

from provisioner.redfish.quirks.traits import Facts, Quirk, Traits

QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        name="boot-mode-resets-to-legacy",
        applies=lambda bmc: "supermicro" in (bmc.vendor + bmc.manufacturer).lower(),
        change=lambda traits: replace(traits, repeat_boot_mode=True),
        source="DMTF/Redfishtool#106",
    ),
    Quirk(
        name="gpus-only-in-oem-devices",
        applies=lambda bmc: bmc.vendor == "HPE",
        change=lambda traits: replace(traits, device_collection=("Oem", "Hpe", "Links", "Devices")),
        source="Cray-HPE/csm-redfish-interface-emulator mockups/XL675d_A100",
    ),
    Quirk(
        name="every-entry-is-write-protected",
        applies=lambda bmc: "lenovo" in (bmc.vendor + bmc.manufacturer).lower(),
        change=lambda traits: replace(traits, write_protection_told=False),
        source="dsx-ai-factory/libredfish, Lenovo mockup: WriteProtected and Updateable are both true, and it updates",
    ),
)


def traits_of(facts: Facts) -> Traits:
    """The standard, changed by every quirk that applies."""
    traits = Traits()
    for quirk in QUIRKS:
        if quirk.applies(facts):
            traits = quirk.change(traits)
    return traits
