"""What every mistake in a firmware catalog or bundle is answered with: file, line, field and remedy, all at once."""

from pathlib import Path

import pytest

from profiles.findings import ProfileError
from profiles.loader import load_catalog
from tests.profiles.catalogs import FILES, write_catalog
from tests.profiles.firmware_files import BUNDLE, CATALOG, changed


def findings_of(directory: Path) -> list[str]:
    with pytest.raises(ProfileError) as caught:
        load_catalog(directory)
    return [str(finding).removeprefix(f"{directory}/") for finding in caught.value.findings]


def without(path: Path, name: str) -> Path:
    (path / name).unlink()
    return path


SECOND_BMC = FILES[CATALOG].partition("components:\n")[2]
MISTAKES = [
    (
        changed(BUNDLE, ("  bios:", "  bois:")),
        'box-1.yaml:7: versions.bois: is not a component of the catalog; did you mean "bios"?',
    ),
    (
        changed(BUNDLE, ('"1.2"', '"1.3"')),
        'box-1.yaml:7: versions.bios: "1.3" is not among the releases of bios; did you mean "1.2"?',
    ),
    (
        changed(BUNDLE, ('"1.2"', '"1.0"')),
        'box-1.yaml:7: versions.bios: "1.0" is below the floor of bios, 1.1; name the floor or a later release',
    ),
    (
        changed(BUNDLE, ("policy: {newer: refuse, unknown: flash}\n", "")),
        "box-1.yaml:1: policy: is missing; add it",
    ),
    (
        changed(BUNDLE, ("newer: refuse, ", "")),
        "box-1.yaml:4: policy.newer: is missing; add it",
    ),
    (
        changed(BUNDLE, ("unknown: flash", "unknown: flsh")),
        "box-1.yaml:4: policy.unknown: 'flsh' is not one of flash, refuse; did you mean \"flash\"?",
    ),
    (
        changed(BUNDLE, ("versions:", "version:")),
        "box-1.yaml:1: versions: is missing; add it\n"
        'box-1.yaml:5: version: is not a known key; did you mean "versions"?',
    ),
    (
        changed(CATALOG, ("after: [bmc]", "after: [bcm]")),
        'box.yaml:22: components[1].after[0]: there is no component "bcm" in this catalog; did you mean "bmc"?',
    ),
    (
        changed(CATALOG, ("after: [bmc]", "after: [bios]")),
        "box.yaml:22: components[1].after[0]: waits for itself: bios -> bios; take one of these names out of `after`",
    ),
    (
        changed(CATALOG, ("inventory: [BMC]\n", "inventory: [BMC]\n    after: [bios]\n")),
        "box.yaml:6: components[0].after[0]: waits for itself: bmc -> bios -> bmc; "
        "take one of these names out of `after`\n"
        "box.yaml:23: components[1].after[0]: waits for itself: bios -> bmc -> bios; "
        "take one of these names out of `after`",
    ),
    (
        changed(CATALOG, ("inventory: [BMC]\n", "inventory: [BMC]\n    after: [bios]\n"), ("    after: [bmc]\n", "")),
        'box.yaml:6: components[0].after[0]: "bios" is flashed later, as it is listed below; move bios above bmc',
    ),
    (
        changed(CATALOG, ('requires: "1.1"', 'requires: "1.11"')),
        'box.yaml:33: components[1].releases[2].requires: "1.11" is not among the releases; did you mean "1.1"?',
    ),
    (
        changed(CATALOG, ('requires: "1.1"', 'requires: "1.2"')),
        'box.yaml:33: components[1].releases[2].requires: "1.2" is not older than 1.2; '
        "releases are listed oldest first; a stepping stone comes before",
    ),
    (
        changed(CATALOG, ('"1.9"', '" 1.10 "')),
        'box.yaml:11: components[0].releases[1].version: "1.10" is already releases[0]; keep one of them',
    ),
    (
        changed(CATALOG, ('"1.9"', '"1.10A"'), ('version: "1.10"\n', 'version: "1.10a"\n')),
        'box.yaml:11: components[0].releases[1].version: "1.10a" is already releases[0]; keep one of them',
    ),
    (
        changed(CATALOG, ('"1.9"', '"Not Present"')),
        'box.yaml:9: components[0].releases[0].version: "Not Present" is what BMCs write for no version; '
        "write the version itself",
    ),
    (
        {CATALOG: FILES[CATALOG].partition("    releases:")[0] + "    releases: []\n"},
        "box.yaml:8: components[0].releases: is empty; list at least one",
    ),
    (
        {CATALOG: FILES[CATALOG].partition("    releases:")[0]},
        "box.yaml:4: components[0].releases: is missing; add it",
    ),
    (
        changed(CATALOG, ('floor: "1.1"', 'floor: "0.9"')),
        'box.yaml:24: components[1].floor: "0.9" is not among the releases; known: 1.0, 1.1, 1.2',
    ),
    (
        changed(CATALOG, ('"1.0"', '"1.5"')),
        'box.yaml:28: components[1].releases[1].version: "1.1" is older than 1.5 by dotted_decimal; '
        "list the oldest first, or write scheme: none\n"
        'box.yaml:31: components[1].releases[2].version: "1.2" is older than 1.5 by dotted_decimal; '
        "list the oldest first, or write scheme: none",
    ),
    (
        changed(CATALOG, ('"1.0"', '"1.0F"')),
        'box.yaml:26: components[1].releases[0].version: dotted_decimal cannot read "1.0F"; '
        "correct the version, or write scheme: none",
    ),
    (
        changed(CATALOG, ("comparison_stamp: 9", "comparison_stamp: 6")),
        "box.yaml:35: components[1].releases[2].comparison_stamp: is below that of 1.1; "
        "releases are listed oldest first",
    ),
    (
        changed(CATALOG, ("'Ver (\\S+)'", "'Ver (\\S+'")),
        "box.yaml:15: components[1].extract: is not a regular expression: missing ), unterminated "
        "subpattern at position 4",
    ),
    (
        changed(CATALOG, ("'Ver (\\S+)'", "Ver")),
        "box.yaml:15: components[1].extract: has 0 groups, not one; put ( ) around the version alone; "
        "(?: ) does not count",
    ),
    (
        changed(CATALOG, ("[BIOS, ", "[BMC, ")),
        'box.yaml:14: components[1].inventory[0]: "BMC" is of bmc already; a part is of one component',
    ),
    (
        changed(CATALOG, ("[BIOS, ", "[BMC, "), ("    extract:", "    names: [System ROM]\n    extract:")),
        'box.yaml:14: components[1].inventory[0]: "BMC" is of bmc already; a part is of one component; '
        "give each of them other `names`",
    ),
    (
        changed(CATALOG, ("    extract:", "    names: [1]\n    extract:")),
        'box.yaml:15: components[1].names[0]: 1 is read by YAML as a number, not as text; quote it: "1"',
    ),
    (
        changed(CATALOG, ("[/redfish/v1/Chassis/HGX_Chassis_0]", "[]")),
        "box.yaml:20: components[1].targets: names no resource; "
        "write `empty` for an empty list, `absent` for no Targets at all",
    ),
    (
        changed(CATALOG, ("[/redfish/v1/Chassis/HGX_Chassis_0]", "[HGX_0]")),
        'box.yaml:20: components[1].targets[0]: "HGX_0" is not the path of a resource; begin it with /redfish/v1/',
    ),
    (
        changed(CATALOG, ("bios-1.1.bin", "bios-1.0.bin")),
        "box.yaml:29: components[1].releases[1].artefact: bios-1.0.bin has another digest or size above; "
        "write the digest of the file, or name another file",
    ),
    (
        changed(CATALOG, ("bmc.bin", "../bmc.bin")),
        "box.yaml:12: components[0].releases[1].artefact.file: '../bmc.bin' does not match "
        "^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$",
    ),
    (
        changed(CATALOG, ("size_bytes: 3", "size_bytes: true")),
        "box.yaml:32: components[1].releases[2].artefact.size_bytes: must be a whole number",
    ),
    (
        changed(CATALOG, ("[multipart]", "[multipart, tftp]")),
        "box.yaml:21: components[1].transports[1]: 'tftp' is not one of simple_update, multipart, http_push; "
        "known: http_push, multipart, simple_update",
    ),
    (
        changed(CATALOG, ("    extract:", "    extrct:")),
        'box.yaml:15: components[1].extrct: is not a known key; did you mean "extract"?',
    ),
    (
        {CATALOG: FILES[CATALOG] + SECOND_BMC},
        'box.yaml:13: components[1].component: "bmc" is already components[0]; keep one of them',
    ),
    (
        changed(CATALOG, ("hardware_class: box", "hardware_class: bx")),
        'box.yaml:1: hardware_class: "bx" differs from the name of the file; write "box" or rename the file',
    ),
]


@pytest.mark.parametrize(("files", "expected"), MISTAKES, ids=[text.split(";")[0] for _, text in MISTAKES])
def test_a_mistake_is_answered_with_its_line_and_its_remedy(
    tmp_path: Path, files: dict[str, str], expected: str
) -> None:
    found = findings_of(write_catalog(tmp_path, files))
    assert "\n".join(one.removeprefix("firmware/").removeprefix("catalogs/") for one in found) == expected


def test_a_class_without_a_catalog_is_told_where_a_bundle_needs_it(tmp_path: Path) -> None:
    assert findings_of(without(write_catalog(tmp_path), CATALOG)) == [
        "firmware/box-1.yaml:3: hardware_class: there is no firmware/catalogs/box.yaml; write it"
    ]


def test_a_catalog_of_no_class_is_told(tmp_path: Path) -> None:
    stray = FILES[CATALOG].replace("hardware_class: box", "hardware_class: boy")
    assert findings_of(write_catalog(tmp_path, {"firmware/catalogs/boy.yaml": stray})) == [
        'firmware/catalogs/boy.yaml:1: hardware_class: there is no hardware/boy.yaml; did you mean "box"?'
    ]


def test_all_mistakes_of_bundle_and_catalog_come_at_once(tmp_path: Path) -> None:
    other = FILES[BUNDLE].replace("name: box-1", "name: box-2").replace("bmc:", "nic:")
    files = changed(BUNDLE, ('"1.10"', '"1.11"'), ('"1.2"', '"1.3"')) | {"firmware/box-2.yaml": other}
    assert [text.split(":")[:3] for text in findings_of(write_catalog(tmp_path / "versions", files))] == [
        ["firmware/box-1.yaml", "6", " versions.bmc"],
        ["firmware/box-1.yaml", "7", " versions.bios"],
        ["firmware/box-2.yaml", "6", " versions.nic"],
    ]
    files = changed(
        CATALOG, ("after: [bmc]", "after: [bcm]"), ('requires: "1.1"', 'requires: "9"'), ('"1.9"', '"1.10"')
    )
    assert [text.split(":")[1] for text in findings_of(write_catalog(tmp_path / "catalog", files))] == [
        "11",
        "22",
        "33",
    ]
