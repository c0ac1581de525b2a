"""One package for a whole board: a bundle names all that it brings, or is told what is missing."""

from pathlib import Path

import pytest

from profiles.findings import ProfileError
from profiles.loader import load_catalog
from profiles.release import Release
from tests.profiles.catalogs import write_catalog
from tests.profiles.firmware_files import BUNDLE, CATALOG, WITH_BIOS
from tests.profiles.shipped import CATALOG as SHIPPED

FPGA = """\
  - component: fpga
    inventory: [FPGA]
    activation: power_cycle
    expected_minutes: 8
    targets: [/redfish/v1/Chassis/HGX_Chassis_0]
    releases:
      - version: "2.0"
        artefact: {file: bios-1.1.bin, sha256: "DIGEST-2", size_bytes: 2}
      - version: "2.1"
        artefact: {file: bios-1.2.bin, sha256: "DIGEST-3", size_bytes: 3}
"""
for digit in "23":
    FPGA = FPGA.replace(f"DIGEST-{digit}", f"{digit}c" * 32)


def board(*lines: str, fpga: str = FPGA) -> dict[str, str]:
    """The BIOS and an FPGA of the same packages, and these lines more in the bundle."""
    return {CATALOG: WITH_BIOS[CATALOG] + fpga, BUNDLE: WITH_BIOS[BUNDLE] + "".join(f"  {line}\n" for line in lines)}


def test_a_bundle_with_all_that_the_package_brings(tmp_path: Path) -> None:
    bundle = load_catalog(write_catalog(tmp_path, board('fpga: "2.1"'))).firmware_bundles["box-1"]
    assert [one.artefact.file for one in bundle.components[1:]] == ["bios-1.2.bin"] * 2


@pytest.mark.parametrize("lines", [(), ('fpga: "2.0"',)])
def test_a_bundle_without_some_of_it_is_refused(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """It would be flashed all the same; or to and fro, each package taking back what the other has brought."""
    with pytest.raises(ProfileError) as caught:
        load_catalog(write_catalog(tmp_path, board(*lines)))
    told = [str(finding).partition("box-1.yaml:")[2] for finding in caught.value.findings]
    assert told[0] == ('7: versions.bios: comes in bios-1.2.bin, which also brings fpga 2.1; write fpga: "2.1" too')
    assert len(told) == 1 + len(lines)


def test_parts_that_are_targets_of_their_own_may_be_left_out(tmp_path: Path) -> None:
    """Then nothing of the package goes to those that the order does not name."""
    own = FPGA.replace("    targets: [/redfish/v1/Chassis/HGX_Chassis_0]\n", "")
    bundle = load_catalog(write_catalog(tmp_path, board(fpga=own))).firmware_bundles["box-1"]
    assert [one.component for one in bundle.components] == ["bmc", "bios"]


def test_what_a_package_has_to_say_is_part_of_a_release_only_where_it_is_written() -> None:
    """Digests of releases from before there was `pldm` stay as they were."""
    for name, there in (("gb200-2026-1", True), ("hgx-h100-2026-1", False)):
        release: Release = SHIPPED.resolve_release(name, "sha256:image")
        assert (b'"pldm":' in release.canonical_json()) is there
