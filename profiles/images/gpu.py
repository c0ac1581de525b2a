"""The GPU part of an image profile: a driver and what goes beside it."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from profiles.compat.kinds import ModuleFlavour, Use
from profiles.fields import Name, Profile, Text
from profiles.images.kinds import (
    CoherentMemory,
    Delivery,
    DriverBranch,
    DriverVersion,
    ModuleParameter,
    OneWord,
    PackageName,
    PackageVersion,
)
from profiles.problems import Problem, refuse, refuse_if_any

MEMORY_PARAMETER = "NVreg_CoherentGPUMemoryMode"
_BY_HAND = "never has a version of its own: it follows the driver and the platform"


def _derived(value: Any) -> Any:
    if value not in ("auto", "absent"):
        raise refuse(_BY_HAND, "write auto (what the platforms need) or absent")
    return value


Derived = Annotated[
    Literal["auto", "absent"], BeforeValidator(_derived), WithJsonSchema({"enum": ["auto", "absent"], "type": "string"})
]


class Driver(Profile):
    """`version` null: the newest that the facts know of the branch. `sign_key` names a key of the site."""

    branch: DriverBranch
    version: DriverVersion | None = None
    modules: ModuleFlavour
    delivery: Delivery
    sign_key: Name | None = None

    @model_validator(mode="after")
    def _version_is_of_the_branch(self) -> Self:
        if self.version is not None and self.version.split(".")[0] != self.branch:
            refuse_if_any([Problem(("version",), f"{self.version} is not of R{self.branch}", "correct one of them")])
        return self


class Cuda(Profile):
    """What programs find in the image, or what they bring: toolkits that the driver must run."""

    install: Literal["none", "runtime", "toolkit"]
    versions: Annotated[tuple[Text, ...], Field(min_length=1)]


class GpuPackages(Profile):
    """What the packages are called in the site's mirror; their versions follow the driver.

    `mirror`: the site's name of the mirror that has them, where it is not the one of the distribution.
    `module_source`: the package with the source of the kernel modules, where `delivery: stage` builds them.
    """

    mirror: Name | None = None
    driver: Annotated[tuple[PackageName, ...], Field(min_length=1)]
    module_source: PackageName | None = None
    fabric_manager: PackageName | None = None
    imex: PackageName | None = None
    nvlsm: PackageName | None = None
    dcgm: PackageName | None = None
    container_toolkit: PackageName | None = None


class Gpu(Profile):
    """A driver for the GPUs of `target`. Versions of Fabric Manager, IMEX and NVLSM are derived, never written."""

    driver: Driver
    memory_mode: CoherentMemory
    cuda: Cuda | None = None
    fabric_manager: Derived = "auto"
    imex: Derived = "auto"
    nvlsm: Derived = "auto"
    dcgm: PackageVersion | None = None
    container_toolkit: PackageVersion | None = None
    persistence: bool = True
    uses: tuple[Use, ...] = ()
    module_params: dict[ModuleParameter, OneWord] = Field(default_factory=dict)
    packages: GpuPackages

    @model_validator(mode="after")
    def _says_each_thing_once(self) -> Self:
        refuse_if_any(self._problems())
        return self

    def _problems(self) -> Iterator[Problem]:
        if MEMORY_PARAMETER in self.module_params:
            at = ("module_params", MEMORY_PARAMETER)
            yield Problem(at, "is written by memory_mode", "leave it out and set memory_mode")
        for index, name in enumerate(self.packages.driver):
            if name.endswith("-dkms"):
                message = f"{name} compiles on the node for whatever kernel runs"
                hint = "name a package of built modules, or write delivery: stage"
                yield Problem(("packages", "driver", index), message, hint)
        for name in ("dcgm", "container_toolkit"):
            if getattr(self, name) is not None and getattr(self.packages, name) is None:
                yield Problem(("packages", name), f"is missing: {name} has a version", "name the package")
        yield from self._problems_of_the_stage()

    def _problems_of_the_stage(self) -> Iterator[Problem]:
        staged, source = self.driver.delivery is Delivery.STAGE, ("packages", "module_source")
        if staged and self.driver.sign_key is None:
            yield Problem(("driver", "sign_key"), "is missing: built modules are signed", "name a key of the site")
        if staged and self.packages.module_source is None:
            message = "is missing: delivery: stage builds modules from a package of source"
            yield Problem(source, message, "name it: nvidia-kernel-dkms")
        if not staged and self.packages.module_source is not None:
            yield Problem(source, "is only built where the driver says delivery: stage", "keep one of them")

    @property
    def module_options(self) -> dict[str, str]:
        """Parameters of the nvidia module, with the derived one."""
        if self.memory_mode is CoherentMemory.NOT_APPLICABLE:
            return dict(self.module_params)
        return {**self.module_params, MEMORY_PARAMETER: self.memory_mode.value}
