"""BIOS attributes as data, as an AttributeRegistry (DSP0268) describes them, and how the BMC treats changes."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from emulator.persona.part import Part

Attribute = str | int | bool
Kind = Literal["Enumeration", "Integer", "Boolean", "String", "Password"]
ApplyTime = Literal["OnReset", "Immediate", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset"]

# The fields of BiosAttribute by the names that an AttributeRegistry has for them.
LIMITS: Mapping[str, str] = {
    "LowerBound": "lower",
    "UpperBound": "upper",
    "ScalarIncrement": "increment",
    "MinLength": "min_length",
    "MaxLength": "max_length",
    "ValueExpression": "pattern",
}
LOCKS: Mapping[str, str] = {
    "ReadOnly": "read_only",
    "Hidden": "hidden",
    "GrayOut": "gray_out",
    "Immutable": "immutable",
}


class BiosAttribute(Part):
    """One BIOS attribute. `allowed` is what is read and written; `names`: the registry's ValueNames where they differ.

    `value` is the factory's; None for a password that is not set.
    """

    type: Kind
    value: Attribute | None = None
    allowed: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lower: int | None = None
    upper: int | None = None
    increment: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    read_only: bool = False
    hidden: bool = False
    gray_out: bool = False
    immutable: bool = False
    reset_required: bool = True
    display: str | None = None
    help: str | None = None
    menu: str | None = None


class Condition(Part):
    """MapFrom: `terms` joins it to the condition before it, or to the next one where the first condition has terms."""

    attribute: str
    property: str = "CurrentValue"
    condition: Literal["EQU", "NEQ", "GTR", "GEQ", "LSS", "LEQ"] = "EQU"
    value: Attribute | None
    terms: Literal["AND", "OR"] | None = None


class Dependency(Part):
    """Type Map: while the conditions hold, `property` of `attribute` is `value`."""

    when: tuple[Condition, ...]
    attribute: str
    property: str
    value: Attribute | None


class CycleRequest(Part):
    """An attribute that asks for an AC power cycle when it is applied, and goes back to its factory value."""

    attribute: str
    value: Attribute


class Bios(Part):
    """The BIOS: `settings` is the last part of the path of the pending settings, None: Bios itself is written.

    `commit`: pending values wait for an apply time or a job, however often the host restarts. `job`: an apply time
    makes a job, and nothing more may be changed before it has run. `shows`: what the settings object holds.
    `partial`: of a change with a bad attribute the good ones are taken. `numbered`: the registry numbers the values,
    Attributes have the display texts. `reset_body`: ResetBios needs a JSON body. `missing_terms`: what joins
    conditions without MapTerms; iDRAC's registries mean OR (Dell R750: its recorded locks agree with nothing else).
    """

    settings: str | None = "Settings"
    registry: str | None = None
    registry_version: str = "1.0.0"
    attributes: dict[str, BiosAttribute] = Field(default_factory=dict)
    dependencies: tuple[Dependency, ...] = ()
    missing_terms: Literal["AND", "OR"] = "AND"
    apply_times: tuple[ApplyTime, ...] = ("OnReset",)
    commit: bool = False
    job: bool = False
    shows: Literal["pending", "all"] = "pending"
    partial: bool = False
    numbered: bool = False
    reset_body: bool = False
    passwords: tuple[str, ...] = ()
    defaults_after_update: bool = False
    cycle: CycleRequest | None = None
