"""Message registries: what the ids of messages mean. Data in registries/*.yaml, one file per registry."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from emulator.persona.part import Part
from emulator.strict_yaml import load_yaml

_FOLDER = Path(__file__).parent / "registries"
_ARGUMENT = re.compile(r"%(\d)")

Severity = Literal["OK", "Warning", "Critical"]


class Message(Part):
    """`text` holds %1, %2, ... for its arguments; `numbers` are those that are numbers; `event` is its EventType."""

    text: str
    severity: Severity = "OK"
    numbers: tuple[int, ...] = ()
    event: str = "Other"
    resolution: str = ""

    @property
    def arguments(self) -> int:
        """How many arguments it takes."""
        return max((int(number) for number in _ARGUMENT.findall(self.text)), default=0)

    @property
    def advice(self) -> str:
        """Resolution."""
        usual = "None." if self.severity == "OK" else "Look at the resource that the message is about."
        return self.resolution or usual

    def filled(self, arguments: tuple[str, ...]) -> str:
        """The text with its arguments; one that is missing stays as its mark."""
        return _ARGUMENT.sub(lambda found: _argument(found, arguments), self.text)


class Registry(Part):
    """One registry."""

    prefix: str
    version: str
    owner: str = "DMTF"
    description: str
    messages: dict[str, Message] = Field(min_length=1)

    @property
    def short_version(self) -> str:
        """`1.13`, as message ids have it."""
        return self.version.rpartition(".")[0]


@lru_cache
def registries() -> Mapping[str, Registry]:
    """All registries by prefix."""
    found = (load_yaml(path, Registry) for path in sorted(_FOLDER.glob("*.yaml")))
    return {registry.prefix: registry for registry in found}


@lru_cache
def find_message(key: str) -> tuple[str, Message]:
    """MessageId and message of `ResourceEvent.ResourceChanged`. Raises KeyError for an unknown one."""
    prefix, _, name = key.partition(".")
    registry = registries()[prefix]
    return f"{prefix}.{registry.short_version}.{name}", registry.messages[name]


def _argument(found: re.Match[str], arguments: tuple[str, ...]) -> str:
    index = int(found[1]) - 1
    return arguments[index] if index < len(arguments) else found[0]
