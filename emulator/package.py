"""Firmware packages of the emulated world: a magic line, one line of JSON, padding that follows from that line.

BMCs also take packages in the form of DSP0267 whose set-version strings name component classes of the persona.
"""

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from emulator.persona.persona import Persona
from emulator.pldm import is_pldm, read_pldm

MAGIC = b"EMUFW1\n"


START_BYTES = 2**20
"""So much of a package is kept to read what it is for; the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a package is for; the fields are sorted by name, as in the file. No `hardware`: it does not say."""

    component: str
    hardware: str
    version: str


def build_package(header: Header, size_bytes: int) -> bytes:
    """The package, byte for byte the same everywhere."""
    line = orjson.dumps(asdict(header), option=orjson.OPT_SORT_KEYS)
    start = MAGIC + line + b"\n"
    blocks = (hashlib.sha256(line + number.to_bytes(8, "big")).digest() for number in itertools.count())
    padding = b"".join(itertools.islice(blocks, max(0, size_bytes - len(start)) // 32 + 1))
    return start + padding[: max(0, size_bytes - len(start))]


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
        names = package.names or tuple(str(one.identifier) for one in package.components)
        versions = [one.version for one in package.components]
        if len(versions) != len(names):
            versions = [versions[0] if versions else package.version] * len(names)
        return tuple(Header(name, "", version) for name, version in zip(names, versions, strict=True))


def write_packages(directory: Path, personas: Iterable[Persona]) -> Iterator[Path]:
    """Write the newest package of each component class of each persona, and the factory ones to go back to."""
    for persona in personas:
        for header in packages(persona):
            path = directory / persona.name / file_name(header)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(build_package(header, persona.components[header.component].size_bytes))
            yield path


def packages(persona: Persona) -> list[Header]:
    """The packages that there are for a persona."""
    versions = {(component, described.newest) for component, described in persona.components.items()}
    versions |= {(slot.component, slot.version) for slot in persona.slots.values() if slot.updateable}
    return [Header(component, persona.name, version) for component, version in sorted(versions)]


def file_name(header: Header) -> str:
    """The name of a package's file."""
    return f"{header.component}-{re.sub('[^A-Za-z0-9.]+', '_', header.version)}.fw"
