"""The small catalog with a second firmware component, a BIOS that has a stepping stone."""

from tests.profiles.catalogs import FILES

BUNDLE, CATALOG = "firmware/box-1.yaml", "firmware/catalogs/box.yaml"
BIOS = """\
  - component: bios
    inventory: [BIOS, "UEFI_*"]
    extract: 'Ver (\\S+)'
    scheme: dotted_decimal
    activation: host_reset
    expected_minutes: 12
    domain: chassis
    targets: [/redfish/v1/Chassis/HGX_Chassis_0]
    transports: [multipart]
    after: [bmc]
    oem: {Supermicro: {BIOS: {PreserveNVRAM: true}}}
    floor: "1.1"
    releases:
      - version: "1.0"
        artefact: {file: bios-1.0.bin, sha256: "DIGEST-1", size_bytes: 1}
      - version: "1.1"
        artefact: {file: bios-1.1.bin, sha256: "DIGEST-2", size_bytes: 2}
        comparison_stamp: 7
      - version: "1.2"
        artefact: {file: bios-1.2.bin, sha256: "DIGEST-3", size_bytes: 3}
        requires: "1.1"
        irreversible: true
        comparison_stamp: 9
"""
for digit in "123":
    BIOS = BIOS.replace(f"DIGEST-{digit}", f"{digit}c" * 32)
WITH_BIOS = {CATALOG: FILES[CATALOG] + BIOS, BUNDLE: FILES[BUNDLE] + '  bios: "1.2"\n'}


def changed(name: str, *edits: tuple[str, str]) -> dict[str, str]:
    """The files with a BIOS, in one of which some words are others."""
    text = WITH_BIOS[name]
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return {**WITH_BIOS, name: text}
