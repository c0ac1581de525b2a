"""Firmware packages of the emulated world: a magic line, one line of JSON, padding that follows from that line."""

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from emulator.persona.load import load_persona, persona_names
from emulator.persona.persona import Persona

MAGIC = b"EMUFW1\n"


@dataclass(frozen=True, slots=True)
class Header:
    """What a package is for; the fields are sorted by name, as in the file."""

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


def write_packages(directory: Path) -> Iterator[Path]:
    """Write the newest package of each component class of each persona, and the factory ones to go back to."""
    for name in persona_names():
        persona = load_persona(name)
        for header in packages(persona):
            path = directory / name / file_name(header)
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
