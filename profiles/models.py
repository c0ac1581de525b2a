"""The profiles that people write, one class per folder of YAML."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from profiles.fields import (
    AttributeValue,
    Duration,
    Glob,
    Name,
    Number,
    Profile,
    Text,
    Whole,
)
from profiles.findings import did_you_mean
from profiles.problems import Problem, refuse_if_any


class Arch(StrEnum):
    """Processor architectures, in the words of the kernel."""

    X86_64 = "x86_64"
    ARM64 = "arm64"


class CheckKind(StrEnum):
    """Checks that the burn-in agent can run."""

    CPU = "cpu"
    MEMORY = "memory"
    DISK = "disk"


# What each check takes and measures; the agent on the node is the other half of this table.
CHECK_PARAMETERS: dict[CheckKind, tuple[str, ...]] = {
    CheckKind.CPU: ("seconds",),
    CheckKind.MEMORY: ("mebibytes", "passes"),
    CheckKind.DISK: ("mebibytes",),
}
CHECK_METRICS: dict[CheckKind, tuple[str, ...]] = {
    CheckKind.CPU: ("operations_per_second", "mismatches", "threads"),
    CheckKind.MEMORY: ("mebibytes_per_second", "mismatches"),
    CheckKind.DISK: ("write_mebibytes_per_second", "read_mebibytes_per_second", "mismatches"),
}


class Match(Profile):
    """Globs over what the BMC reports, case-insensitive; one of each list must match. No `gpu_model`: no GPUs."""

    manufacturer: Annotated[tuple[Glob, ...], Field(min_length=1)]
    model: Annotated[tuple[Glob, ...], Field(min_length=1)]
    gpu_model: tuple[Glob, ...] = ()
    arch: Arch


class HardwareClass(Profile):
    """Servers that are interchangeable in a pool: hardware/*.yaml."""

    name: Name
    description: Text
    match: Match
    gpu_count: Annotated[Whole, Field(ge=0, le=64)]
    nvlink_domain_size: Annotated[Whole, Field(ge=0, le=1024, description="GPUs in one NVLink domain")]
    factory_credential_hint: Annotated[Text, Field(description="where a technician finds the factory password")]

    @model_validator(mode="after")
    def _has_gpus_or_none(self) -> Self:
        if bool(self.gpu_count) != bool(self.match.gpu_model):
            message = "says GPUs" if self.gpu_count else "says no GPUs"
            other = "match.gpu_model names none" if self.gpu_count else "match.gpu_model names some"
            refuse_if_any([Problem(("gpu_count",), f"{message}, and {other}", "correct one of them")])
        return self


class BiosProfile(Profile):
    """BIOS attributes by the names that the live Bios resource uses: bios/*.yaml."""

    name: Name
    description: Text
    hardware_class: Name
    attributes: Annotated[dict[Text, AttributeValue], Field(min_length=1)]
    optional: Annotated[tuple[Text, ...], Field(description="attributes that boards of this class may lack")] = ()

    @model_validator(mode="after")
    def _optional_attributes_exist(self) -> Self:
        refuse_if_any(
            Problem(("optional", index), f'"{name}" has no value in attributes', did_you_mean(name, self.attributes))
            for index, name in enumerate(self.optional)
            if name not in self.attributes
        )
        return self


class AgentImage(Profile):
    """The burn-in agent as the whole root: images/*.yaml with `root: agent`. The others are in `images/debian.py`."""

    name: Name
    description: Text
    arch: Arch
    root: Literal["agent"]


class BurnInItem(Profile):
    """One check with its limits; a metric below its floor or above its ceiling fails the node."""

    id: Name
    kind: CheckKind
    parameters: dict[str, Annotated[Number, Field(gt=0)]]
    deadline: Duration
    floors: dict[str, Number] = Field(default_factory=dict)
    ceilings: dict[str, Number] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_fit_the_kind(self) -> Self:
        refuse_if_any(self._problems())
        return self

    def _problems(self) -> Iterator[Problem]:
        parameters, metrics = CHECK_PARAMETERS[self.kind], CHECK_METRICS[self.kind]
        yield from _unknown("parameters", self.parameters, parameters)
        yield from _unknown("floors", self.floors, metrics)
        yield from _unknown("ceilings", self.ceilings, metrics)
        for name in parameters:
            if name not in self.parameters:
                yield Problem(("parameters", name), "is missing", "add it")


class BurnInPlan(Profile):
    """Checks in the order of running: burnin/*.yaml."""

    name: Name
    description: Text
    heartbeat: Duration
    items: Annotated[tuple[BurnInItem, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _items_are_distinct(self) -> Self:
        refuse_if_any(_repeated("items", "id", [item.id for item in self.items]))
        return self


class ReleaseProfile(Profile):
    """The unit that is promoted: names of one profile of each kind: releases/*.yaml."""

    name: Name
    description: Text
    hardware_class: Name
    image: Name
    firmware: Name
    bios: Name
    burn_in: Name


def _unknown(field: str, written: Iterable[str], known: tuple[str, ...]) -> Iterator[Problem]:
    for name in written:
        if name not in known:
            yield Problem((field, name), "is not known to this kind of check", did_you_mean(name, known))


def _repeated(field: str, key: str, names: list[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        first = names.index(name)
        if first < index:
            yield Problem((field, index, key), f'"{name}" is already {field}[{first}]', "keep one of them")
