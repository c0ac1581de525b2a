"""The profiles that come with the product, held against the emulated servers and their firmware files."""

import hashlib
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from emulator.package import read_header, write_packages
from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent
from profiles.loader import FOLDERS, SHIPPED, load_catalog
from profiles.matching import Found, match
from profiles.models import BiosProfile, HardwareClass

CATALOG = load_catalog(SHIPPED)
WITH_PROFILES = ("dell-xe9680", "gb200-compute-tray", "hgx-h100")
"""The emulated servers that the product ships profiles for; the emulator has more."""
PERSONAS = [load_persona(name) for name in WITH_PROFILES]
VIRTUAL = "virtual-machine"
"""The class of a real virtual machine; tests/machine boots one."""
BUNDLES = tuple(one for one in CATALOG.firmware_bundles.values() if one.hardware_class != VIRTUAL)
BIOS_PROFILES = tuple(one for one in CATALOG.bios_profiles.values() if one.hardware_class != VIRTUAL)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("firmware")
    assert list(write_packages(folder, PERSONAS))
    return folder


def class_of(persona: Persona) -> HardwareClass:
    system = persona.system
    found = Found(system.manufacturer, system.model, (persona.gpus.model,) * len(persona.gpus.ids), persona.arch)
    answer = match(CATALOG, found)
    assert isinstance(answer, HardwareClass), str(answer)
    return answer


@cache
def persona_of(hardware_class: str) -> Persona:
    return next(persona for persona in PERSONAS if class_of(persona).name == hardware_class)


def reported_versions(component: FirmwareComponent, persona: Persona) -> set[str]:
    """Return what the factory-fresh server reports for the component, as comparable versions."""
    reported = {
        slot.version
        for slot in persona.slots.values()
        if any(fnmatchcase(slot.inventory_id(slot.version), glob) for glob in component.inventory)
    }
    return {comparable(component, version) for version in reported}


def comparable(component: FirmwareComponent, version: str) -> str:
    if component.extract is None:
        return version
    extracted = re.search(component.extract, version)
    assert extracted, version
    return extracted[1]


@pytest.mark.parametrize("persona", PERSONAS, ids=lambda persona: persona.name)
def test_every_emulated_server_has_a_class_and_a_release(persona: Persona) -> None:
    hardware = class_of(persona)
    assert hardware.gpu_count == len(persona.gpus.ids)
    assert hardware.match.arch == persona.arch
    assert any(release.hardware_class == hardware.name for release in CATALOG.releases.values())


def test_every_class_has_an_emulated_server() -> None:
    assert {class_of(persona).name for persona in PERSONAS} == set(CATALOG.hardware_classes) - {VIRTUAL}


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_the_firmware_files_are_those_that_the_servers_accept(bundle: FirmwareBundle, packages: Path) -> None:
    persona = persona_of(bundle.hardware_class)
    for component in bundle.components:
        content = (packages / component.artefact.file).read_bytes()
        assert component.artefact.sha256 == hashlib.sha256(content).hexdigest()
        assert component.artefact.size_bytes == len(content)
        header = read_header(content)
        assert (header.component, header.hardware) == (component.component, persona.name)
        assert comparable(component, header.version) == component.version


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_a_bundle_brings_every_component_to_another_version(bundle: FirmwareBundle) -> None:
    persona = persona_of(bundle.hardware_class)
    assert 3 <= len(bundle.components) <= 5
    assert len({component.activation for component in bundle.components}) >= 3
    for component in bundle.components:
        assert reported_versions(component, persona)
        assert component.version not in reported_versions(component, persona)
        assert component.activation == persona.components[component.component].activation


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_inventory_globs_find_updateable_devices_of_the_component_only(bundle: FirmwareBundle) -> None:
    persona = persona_of(bundle.hardware_class)
    for component in bundle.components:
        for version in (persona.components[component.component].newest, None):
            found = {
                slot.key
                for slot in persona.slots.values()
                if any(fnmatchcase(slot.inventory_id(version or slot.version), glob) for glob in component.inventory)
            }
            expected = {
                slot.key for slot in persona.slots.values() if slot.component == component.component and slot.updateable
            }
            assert found == expected


@pytest.mark.parametrize("bios", BIOS_PROFILES, ids=lambda bios: bios.name)
def test_bios_attributes_exist_and_may_be_written(bios: BiosProfile) -> None:
    attributes = persona_of(bios.hardware_class).bios.attributes
    assert 4 <= len(bios.attributes) <= 6
    for name, value in bios.attributes.items():
        assert name in attributes
        assert not attributes[name].read_only
        assert type(value) is type(attributes[name].value)
        assert not attributes[name].allowed or value in attributes[name].allowed
    assert any(value != attributes[name].value for name, value in bios.attributes.items())


@pytest.mark.parametrize("bios", BIOS_PROFILES, ids=lambda bios: bios.name)
def test_a_configured_server_can_boot_from_the_network(bios: BiosProfile) -> None:
    persona = persona_of(bios.hardware_class)
    configured = {name: attribute.value for name, attribute in persona.bios.attributes.items()} | bios.attributes
    needs = persona.boot.http_needs if persona.boot.http_boot_uri else persona.boot.pxe_needs
    assert all(configured[name] == value for name, value in needs.items())


@pytest.mark.parametrize("folder", FOLDERS)
def test_editors_find_the_schema_of_every_profile(folder: str) -> None:
    for path in (SHIPPED / folder).glob("*.yaml"):
        first = path.read_text().splitlines()[0]
        assert first == f"# yaml-language-server: $schema=../schemas/{folder}.schema.json"
        assert (path.parent / first.partition("=")[2]).exists()
