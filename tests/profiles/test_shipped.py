"""The profiles that come with the product, held against the emulated servers. Firmware: test_shipped_firmware.py."""

from pathlib import Path

import pytest

from emulator.persona.persona import Persona
from profiles.loader import FOLDERS, SHIPPED
from profiles.models import BiosProfile
from tests.profiles.shipped import CATALOG, PERSONAS, VIRTUAL, class_of, persona_of

BIOS_PROFILES = tuple(one for one in CATALOG.bios_profiles.values() if one.hardware_class != VIRTUAL)


@pytest.mark.parametrize("persona", PERSONAS, ids=lambda persona: persona.name)
def test_every_emulated_server_has_a_class_and_a_release(persona: Persona) -> None:
    hardware = class_of(persona)
    assert hardware.gpu_count == len(persona.gpus.ids)
    assert hardware.match.arch == persona.arch
    assert any(release.hardware_class == hardware.name for release in CATALOG.releases.values())


def test_every_class_has_an_emulated_server() -> None:
    assert {class_of(persona).name for persona in PERSONAS} == set(CATALOG.hardware_classes) - {VIRTUAL}


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
    up = "../" * len(Path(folder).parts)
    for path in (SHIPPED / folder).glob("*.yaml"):
        first = path.read_text().splitlines()[0]
        assert first == f"# yaml-language-server: $schema={up}schemas/{folder.replace('/', '-')}.schema.json"
        assert (path.parent / first.partition("=")[2]).exists()
