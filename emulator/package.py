"""Firmware packages of the emulated world: a magic line, one line of JSON, padding that follows from that line.

BMCs also take packages in the form of DSP0267 whose set-version strings name component classes of the persona; those
of a whole board have a record for each of its devices.
"""

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from emulator.persona.persona import Persona
from emulator.pldm import PldmPackage, is_pldm, read_pldm
from emulator.pldm_builder import Device, build_board

MAGIC = b"EMUFW1\n"


START_BYTES = 2**20
"""So much of a package is kept to read what it is for; the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a package is for. No `hardware`: it does not say.

    `sku`: in a package of a whole board, the devices that this part of it is for; the part is left out where there are
    none. `continues`: the other parts are written when this one fails.
    """

    component: str
    hardware: str
    version: str
    sku: str = ""
    continues: bool = False


def build_package(header: Header, size_bytes: int) -> bytes:
    """The package, byte for byte the same everywhere."""
    told = {"component": header.component, "hardware": header.hardware, "version": header.version}
    line = orjson.dumps(told, option=orjson.OPT_SORT_KEYS)
    start = MAGIC + line + b"\n"
    return start + _padding(line, max(0, size_bytes - len(start)))


def read_header(package: bytes) -> Header:
    """The header of a package; raises ValueError when it is none."""
    if not package.startswith(MAGIC):
        raise ValueError("not a firmware package")
    line = package[len(MAGIC) :].split(b"\n", 1)[0]
    try:
        return Header(**orjson.loads(line))
    except (orjson.JSONDecodeError, TypeError) as error:
        raise ValueError("the header of the firmware package is damaged") from error


@dataclass(frozen=True, slots=True)
class Image:
    """What came over the wire: the start of a package, and how many bytes it has; `read`: what is in it, if known."""

    start: bytes
    size_bytes: int
    read: tuple[Header, ...] = ()

    def headers(self) -> tuple[Header, ...]:
        """What it is for, one for each component. Raises ValueError when it is no package."""
        if self.read:
            return self.read
        if not is_pldm(self.start):
            return (read_header(self.start),)
        package = read_pldm(self.start, self.size_bytes)
        if any(record.sku for record in package.records):
            return tuple(_parts(package))
        names = package.names or tuple(str(one.identifier) for one in package.components)
        versions = [one.version for one in package.components]
        if len(versions) != len(names):
            versions = [versions[0] if versions else package.version] * len(names)
        return tuple(Header(name, "", version) for name, version in zip(names, versions, strict=True))


def write_packages(directory: Path, personas: Iterable[Persona]) -> Iterator[Path]:
    """Write the newest package of each component class and board of each persona, and the factory's to go back to."""
    for persona in personas:
        for header in packages(persona):
            path = directory / persona.name / file_name(header)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(build_package(header, persona.components[header.component].size_bytes))
            yield path
        for name, content in board_packages(persona).items():
            path = directory / persona.name / name
            path.write_bytes(content)
            yield path


def packages(persona: Persona) -> list[Header]:
    """The packages that there are for a persona."""
    versions = {(component, described.newest) for component, described in persona.components.items()}
    versions |= {(slot.component, slot.version) for slot in persona.slots.values() if slot.updateable}
    return [Header(component, persona.name, version) for component, version in sorted(versions)]


def board_packages(persona: Persona) -> dict[str, bytes]:
    """The newest package of each board of a persona, and the factory's, by the names of their files.

    A board's version is that of its first component class.
    """
    found: dict[str, bytes] = {}
    for board, classes in persona.update.boards.items():
        factory = {name: one.version for name in classes for one in persona.slots.values() if one.component == name}
        newest = {name: persona.components[name].newest for name in classes}
        for versions in (factory, newest):
            name = f"{board}-{_in_file_name(versions[classes[0]])}.fwpkg"
            found[name] = board_package(persona, versions)
    return found


def board_package(persona: Persona, versions: Mapping[str, str], *, continues: bool = True) -> bytes:
    """A package in the form of DSP0267 with these versions of classes. Raises KeyError for a class without SKU."""
    devices = [_device(persona, name, version) for name, version in versions.items()]
    return build_board(devices[0].version, devices, continues=continues)


def file_name(header: Header) -> str:
    """The name of a package's file."""
    return f"{header.component}-{_in_file_name(header.version)}.fw"


def _device(persona: Persona, name: str, version: str) -> Device:
    described = persona.components[name]
    if described.sku is None:
        raise KeyError(f"{persona.name}: {name} has no sku")
    slot = next(one for one in persona.slots.values() if one.component == name)
    image = _padding(f"{persona.name} {name} {version}".encode(), described.size_bytes)
    return Device(name, described.sku, int(slot.software_id or "0", 16), version, image)


def _parts(package: PldmPackage) -> Iterator[Header]:
    for record in package.records:
        if any(index >= len(package.components) for index in record.applicable):
            raise ValueError("a device record of the firmware package names a component that is not there")
        images = [package.components[index] for index in record.applicable]
        names = record.names if len(record.names) == len(images) else tuple(str(one.identifier) for one in images)
        for name, image in zip(names, images, strict=True):
            yield Header(name, "", image.version, record.sku, record.continues)


def _padding(seed: bytes, size_bytes: int) -> bytes:
    blocks = (hashlib.sha256(seed + number.to_bytes(8, "big")).digest() for number in itertools.count())
    return b"".join(itertools.islice(blocks, size_bytes // 32 + 1))[:size_bytes]


def _in_file_name(version: str) -> str:
    return re.sub("[^A-Za-z0-9.]+", "_", version)
