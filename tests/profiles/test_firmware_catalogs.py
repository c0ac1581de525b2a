"""Firmware catalogs and bundles: what a bundle resolves to, and what makes it another release."""

from pathlib import Path

import pytest

from profiles.firmware.component import Activation, Domain
from profiles.loader import load_catalog
from profiles.release import Release
from tests.profiles.catalogs import FILES, edited, write_catalog
from tests.profiles.firmware_files import BUNDLE, CATALOG, WITH_BIOS, changed


def release_of(directory: Path, files: dict[str, str]) -> Release:
    return load_catalog(write_catalog(directory, files)).resolve_release("box-first", "sha256:" + "ab" * 32)


def test_a_bundle_gets_what_its_catalog_knows(tmp_path: Path) -> None:
    bundle = load_catalog(write_catalog(tmp_path, WITH_BIOS)).firmware_bundles["box-1"]
    assert (bundle.policy.newer, bundle.policy.unknown) == ("refuse", "flash")
    bmc, bios = bundle.components
    assert (bmc.component, bmc.version, bmc.artefact.file, bmc.targets) == ("bmc", "1.10", "bmc.bin", "parts")
    assert (bios.version, bios.artefact.size_bytes, bios.activation) == ("1.2", 3, Activation.HOST_RESET)
    assert [release.version for release in bios.releases] == ["1.0", "1.1", "1.2"]
    assert (bios.releases[2].requires, bios.releases[2].irreversible) == ("1.1", True)
    assert (bios.after, bios.domain, bios.floor) == (("bmc",), Domain.CHASSIS, "1.1")
    assert bios.targets == ("/redfish/v1/Chassis/HGX_Chassis_0",)
    assert bios.oem == {"Supermicro": {"BIOS": {"PreserveNVRAM": True}}}


def test_components_are_in_the_order_of_the_catalog_and_not_of_the_bundle(tmp_path: Path) -> None:
    files = changed(BUNDLE, ('  bmc: "1.10"\n  bios: "1.2"\n', '  bios: "1.2"\n  bmc: "1.10"\n'))
    bundle = load_catalog(write_catalog(tmp_path, files)).firmware_bundles["box-1"]
    assert [component.component for component in bundle.components] == ["bmc", "bios"]


def test_a_component_that_the_bundle_does_not_name_is_left_alone(tmp_path: Path) -> None:
    """Nothing waits for it either."""
    files = changed(BUNDLE, ('  bmc: "1.10"\n', ""))
    (bios,) = load_catalog(write_catalog(tmp_path, files)).firmware_bundles["box-1"].components
    assert (bios.component, bios.after) == ("bios", ())


def test_a_version_of_the_bundle_is_found_whatever_its_case_and_space(tmp_path: Path) -> None:
    files = edited(CATALOG, '"1.10"', '"HGX-22.10-1-rc80"') | edited(BUNDLE, '"1.10"', '" hgx-22.10-1-RC80"')
    (bmc,) = load_catalog(write_catalog(tmp_path, files)).firmware_bundles["box-1"].components
    assert bmc.version == "HGX-22.10-1-rc80"


def test_two_components_may_share_ids_that_names_tell_apart(tmp_path: Path) -> None:
    """HPE numbers its ids; a digest says nothing of names where none are given."""
    numbered = [("inventory: [BMC]", 'inventory: ["*"]\n    names: [iLO 5]'), ('[BIOS, "UEFI_*"]', '["*"]')]
    files = changed(CATALOG, *numbered, ("    extract:", "    names: [System ROM]\n    extract:"))
    bmc, bios = load_catalog(write_catalog(tmp_path, files)).firmware_bundles["box-1"].components
    assert (bmc.names, bios.names) == (("iLO 5",), ("System ROM",))
    assert '"names":["iLO 5"]' in release_of(tmp_path / "named", files).canonical_json().decode()
    assert "names" not in release_of(tmp_path / "without", WITH_BIOS).canonical_json().decode()


def test_a_bundle_may_name_nothing(tmp_path: Path) -> None:
    files = edited(BUNDLE, 'versions:\n  bmc: "1.10"', "versions: {}")
    files[CATALOG] = FILES[CATALOG].partition("components:")[0] + "components: []\n"
    assert load_catalog(write_catalog(tmp_path, files)).firmware_bundles["box-1"].components == ()


NEWER = """\
      - version: "1.3"
        artefact: {file: bios-1.3.bin, sha256: "%s", size_bytes: 4}
""" % ("4c" * 32)


@pytest.mark.parametrize(
    "files",
    [
        {**WITH_BIOS, CATALOG: WITH_BIOS[CATALOG] + NEWER},
        changed(CATALOG, ("bios-1.0.bin", "bios-1.00.bin")),
        changed(CATALOG, ('floor: "1.1"', 'floor: "1.2"')),
        changed(CATALOG, ("what there is", "what there is by now")),
    ],
    ids=["a newer version", "the file of an older one", "a higher floor", "words for people"],
)
def test_what_a_catalog_learns_of_other_versions_is_not_another_release(tmp_path: Path, files: dict[str, str]) -> None:
    """Or every node of the class would be provisioned again on the day on which a vendor publishes something."""
    before = release_of(tmp_path / "before", WITH_BIOS)
    assert release_of(tmp_path / "after", files).digest == before.digest


@pytest.mark.parametrize(
    "files",
    [
        changed(CATALOG, ("2c2c", "2d2d")),  # of the stepping stone
        changed(CATALOG, ("3c3c", "3d3d")),
        changed(CATALOG, ('        requires: "1.1"\n', "")),
        changed(CATALOG, ("irreversible: true", "irreversible: false")),
        changed(CATALOG, ("PreserveNVRAM: true", "PreserveNVRAM: false")),
        changed(BUNDLE, ('"1.2"', '"1.1"')),
        changed(BUNDLE, ('  bios: "1.2"\n', "")),
    ],
    ids=["stepping stone", "file", "requires", "irreversible", "oem", "version", "component"],
)
def test_what_is_flashed_on_the_way_is_the_release(tmp_path: Path, files: dict[str, str]) -> None:
    before = release_of(tmp_path / "before", WITH_BIOS)
    assert release_of(tmp_path / "after", files).digest != before.digest
