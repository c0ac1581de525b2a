"""The firmware catalogs and bundles of the product, held against the emulated servers and against recorded ones."""

import hashlib
import json
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from emulator.package import Header, Image, write_packages
from emulator.persona.firmware import Slot
from emulator.persona.persona import Persona
from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import ComponentFacts, FirmwareComponent
from profiles.release import Release
from provisioner.firmware.package.inspect import inspect
from provisioner.firmware.package.preflight import Claim, refusals
from provisioner.firmware.package.source import BufferSource
from provisioner.versions import Verdict, extract, verdict
from tests.profiles.shipped import CATALOG, PERSONAS, VIRTUAL, persona_of
from tests.requirements import need

MOCKUPS = Path(__file__).parents[3] / "shared" / "mockups"
BUNDLES = tuple(one for one in CATALOG.firmware_bundles.values() if one.hardware_class != VIRTUAL)
WHOLE = tuple(one for one in BUNDLES if one.name.endswith("-2026-1"))
"""The bundles that bring every component of their catalog."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("firmware")
    assert list(write_packages(folder, PERSONAS))
    return folder


def named(component: ComponentFacts, identifier: str, name: str) -> bool:
    fits = any(fnmatchcase(identifier, glob) for glob in component.inventory)
    return fits and (not component.names or any(fnmatchcase(name, glob) for glob in component.names))


def slots_of(component: ComponentFacts, persona: Persona) -> list[Slot]:
    """The devices of the factory-fresh server that the component stands for."""
    return [slot for slot in persona.slots.values() if named(component, slot.inventory_id(slot.version), slot.name)]


def class_in(persona: Persona, component: ComponentFacts) -> str:
    """What the emulator calls the component; it has one ERoT where a GB200 tray is updated in two ways."""
    (name,) = {slot.component for slot in slots_of(component, persona)}
    return name


def part_for(persona: Persona, component: ComponentFacts, content: bytes) -> Header:
    """What the file brings for the component; a package of a whole board names devices by their SKU, not the server."""
    headers = Image(content, len(content)).headers()
    if len(headers) == 1:
        return headers[0]
    name = class_in(persona, component)
    (header,) = [one for one in headers if one.sku == persona.components[name].sku]
    return replace(header, component=name, hardware=persona.name)


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_the_firmware_files_are_those_that_the_servers_accept(bundle: FirmwareBundle, packages: Path) -> None:
    persona = persona_of(bundle.hardware_class)
    for component in bundle.components:
        for release in component.releases:
            content = (packages / release.artefact.file).read_bytes()
            assert release.artefact.sha256 == hashlib.sha256(content).hexdigest()
            assert release.artefact.size_bytes == len(content)
            header = part_for(persona, component, content)
            assert (header.component, header.hardware) == (class_in(persona, component), persona.name)
            assert extract(header.version, component.extract) == release.version
            claim = Claim(component.component, release.version, component.extract, component.pldm)
            assert refusals(release.artefact, inspect(BufferSource(content)), [claim]) == ()


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_a_server_from_the_factory_is_older_and_the_newest_package_is_what_is_wanted(bundle: FirmwareBundle) -> None:
    persona = persona_of(bundle.hardware_class)
    assert len({component.activation for component in bundle.components}) >= 3
    for component in bundle.components:
        newest = persona.components[class_in(persona, component)].newest
        slots = slots_of(component, persona)
        assert len(component.releases) >= 2
        assert [verdict(slot.version, component) for slot in slots] == [Verdict.OLDER] * len(slots)
        assert verdict(newest, component) == Verdict.EQUAL
        back = component.model_copy(update={"version": component.releases[0].version})
        assert verdict(newest, back) == Verdict.NEWER


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_the_activation_is_the_one_that_the_server_needs(bundle: FirmwareBundle) -> None:
    persona = persona_of(bundle.hardware_class)
    for component in bundle.components:
        assert component.activation == persona.components[class_in(persona, component)].activation


@pytest.mark.parametrize("bundle", WHOLE, ids=lambda bundle: bundle.name)
def test_an_updateable_device_is_of_one_component_before_and_after(bundle: FirmwareBundle) -> None:
    """Inventory ids may hold the version: the globs fit those of the old and of the new one."""
    persona = persona_of(bundle.hardware_class)
    for slot in persona.slots.values():
        for version in (slot.version, persona.components[slot.component].newest):
            owners = [one.component for one in bundle.components if named(one, slot.inventory_id(version), slot.name)]
            assert len(owners) <= 1
            assert not owners or slot.updateable
        for kind in slot.slots:
            other = slot.slot_names.get(kind, f"{kind} image of {slot.name}")
            assert not any(named(one, slot.slot_id(kind, slot.version), other) for one in bundle.components)


LEFT_ALONE = {
    "gb200-2026-1": {"FW_CPLD_2", "FW_CPLD_3"},  # other devices than 0 and 1, on a real tray
    "hgx-h100-2026-1": {f"NIC{number}" for number in range(1, 9)},  # not updateable on a real one
    "dell-xe9680-2026-1": {f"Installed-111858-*__PSU.Slot.{number}" for number in range(1, 7)},  # no newer package
    "hpe-xl675d-2026-1": {"5", "6", "7", "8"},  # power supplies of several makers
    "lenovo-sr670v2-2026-1": {"LXPMLinuxDriver", "LXPMWindowsDriver"},  # drivers for installers
}


@pytest.mark.parametrize("bundle", WHOLE, ids=lambda bundle: bundle.name)
def test_a_whole_bundle_leaves_no_updateable_device_out_but_those_that_are_known(bundle: FirmwareBundle) -> None:
    persona = persona_of(bundle.hardware_class)
    covered = {slot.key for component in bundle.components for slot in slots_of(component, persona)}
    updateable = {slot.key for slot in persona.slots.values() if slot.updateable}
    assert updateable - covered == LEFT_ALONE.get(bundle.name, set())


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_the_host_bmc_comes_first_and_everything_waits_for_it(bundle: FirmwareBundle) -> None:
    bmc, *others = bundle.components
    assert (bmc.component, bmc.activation, bmc.after) == ("bmc", "bmc_reset", ())
    assert {component.after for component in others} == {("bmc",)}


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_shipped_targets_are_groups_that_the_server_knows(bundle: FirmwareBundle) -> None:
    """NVIDIA's update guides: the HGX tray is one target, the board of a GB200 tray an empty list."""
    update = persona_of(bundle.hardware_class).update
    for component in bundle.components:
        if component.targets == "empty":
            assert all(any(fnmatchcase(glob, one) for one in update.empty_targets) for glob in component.inventory)
        elif isinstance(component.targets, tuple):
            (group,) = component.targets
            assert all(any(fnmatchcase(glob, one) for one in update.groups[group]) for glob in component.inventory)


RECORDED = {
    # bundle: (folder of the recording, {component: (its parts, {what is extracted: what that is})})
    "hgx-h100-2026-1": (
        "supermicro-sys-821ge-tnhr",
        {
            "bmc": (1, {"11.01.01": "older"}),
            "cpld": (1, {"F5.11.CB": "older"}),
            "bios": (1, {"1.4": "older"}),
            "erot": (15, {"00.02.0134.0000": "older"}),
            "hgx-bmc": (1, {"HGX-22.10-1-rc34": "older"}),
            "fpga": (1, {"2.11": "older"}),
            "gpu-vbios": (8, {"96.00.61.00.01": "older"}),
            "nvswitch": (4, {"96.10.35.00.01": "older"}),
            "pcie-switch": (1, {"1.7.5F": "older"}),
            "pcie-retimer": (8, {"2.7.9": "older"}),
        },
    ),
    "gb200-2026-1": (
        "nvidia-gb200-nvl-compute-tray",
        {
            "bmc": (1, {"GB200Nvl-24.12-8": "older"}),
            "bmc-erot": (1, {"01.03.0262.0000": "older"}),
            "cpld": (2, {"0x00 0x0b 0x03 0x04": "older"}),
            "bios": (1, {"buildbrain-gcid-38635631": "unknown"}),  # a build that was never released
            "hgx-erot": (5, {"01.03.0262.0000": "older"}),
            "hgx-bmc": (1, {"GB200Nvl-24.12-8": "older"}),
            "fpga": (2, {"1.1C": "older"}),
            "gpu-vbios": (4, {"97.00.6C.00.03": "older", "97.00.72.00.00": "older"}),
            "nic": (2, {"32.41.1300": "older"}),
        },
    ),
    "hpe-xl675d-2026-1": (
        "hpe-xl675d-a100-ilo5",
        {
            "bmc": (1, {"2.70": "older"}),
            "ipad": (1, {"9.1.0 Build 27": "older"}),
            "cpld": (1, {"0x0F": "older"}),
            "bios": (1, {"2.58": "older"}),
            "chassis": (1, {"1.6.10": "older"}),
            "storage": (1, {"5.00": "older"}),
        },
    ),
    "lenovo-sr670v2-2026-1": (
        "lenovo-sr670v2-xcc",
        {
            "bmc": (1, {"42S-2.83": "older"}),
            "bios": (1, {"22J-1.51": "older"}),
            "lxpm": (1, {"18E-3.21": "older"}),
            "riser": (2, {"02.04.05.02": "older"}),
            "raid": (1, {"1.0.20.1052": "older"}),
            "nic": (1, {"24.41.1000": "older"}),
            "psu": (4, {"7.52": "older"}),
        },
    ),
    "dell-xe9680-2026-1": (  # another PowerEdge with the same iDRAC: its ids, not its versions
        "dell-r750-idrac9",
        {
            "bmc": (1, {"6.00.30.00": "older"}),
            "cpld": (1, {"1.0.5": "older"}),
            "bios": (1, {"1.8.2": "older"}),
            "nic": (1, {"24.40.10.00": "older"}),
        },
    ),
}


def inventory_of(recording: str) -> dict[tuple[str, str], str | None]:
    """Inventory id and name to version, as a real BMC gave them."""
    need(MOCKUPS.is_dir(), "the recorded Redfish trees are not there")
    paths = (MOCKUPS / recording / "redfish" / "v1" / "UpdateService" / "FirmwareInventory").glob("*/index.json")
    entries = [json.loads(path.read_text()) for path in paths]
    return {(entry["Id"], entry["Name"]): entry.get("Version") for entry in entries}


@pytest.mark.parametrize("name", RECORDED)
def test_a_real_inventory_is_read_as_it_should_be(name: str) -> None:
    """NVIDIA/libredfish and Cray-HPE recordings: every part is found, in one component, and its version is judged."""
    recording, expected = RECORDED[name]
    inventory, bundle = inventory_of(recording), CATALOG.firmware_bundles[name]
    owners: Counter[tuple[str, str]] = Counter()
    for component in bundle.components:
        parts = {part: version for part, version in inventory.items() if named(component, *part)}
        owners.update(parts.keys())
        judged = {extract(version or "", component.extract): verdict(version, component) for version in parts.values()}
        assert (len(parts), judged) == expected.get(component.component, (0, {})), component.component
    assert set(owners.values()) == {1}


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_a_release_says_what_is_flashed_and_nothing_of_other_versions(bundle: FirmwareBundle) -> None:
    names = [name for name, one in CATALOG.releases.items() if one.hardware_class == bundle.hardware_class]
    any_of_class: Release = CATALOG.resolve_release(names[0], "sha256:" + "ab" * 32)
    release = any_of_class.model_copy(update={"firmware": bundle})
    content = json.loads(release.canonical_json())["firmware"]["components"]
    for component, written in zip(bundle.components, content, strict=True):
        assert older_files(component).isdisjoint(step["artefact"]["sha256"] for step in written["steps"])
        assert component.artefact.sha256 in {step["artefact"]["sha256"] for step in written["steps"]}


def older_files(component: FirmwareComponent) -> set[str]:
    return {release.artefact.sha256 for release in component.releases if release.version != component.version}
