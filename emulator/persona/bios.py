"""BIOS attributes as data."""

from typing import Literal

from pydantic import Field

from emulator.persona.part import Part

Attribute = str | int | bool


class BiosAttribute(Part):
    """One BIOS attribute: its type, its factory value, what may be written."""

    type: Literal["Enumeration", "Integer", "Boolean", "String"]
    value: Attribute
    allowed: tuple[str, ...] = ()
    lower: int | None = None
    upper: int | None = None
    read_only: bool = False


class Bios(Part):
    """The BIOS: `settings` is the last part of the path of the pending settings."""

    settings: str = "Settings"
    registry: str | None = None
    attributes: dict[str, BiosAttribute] = Field(default_factory=dict)
