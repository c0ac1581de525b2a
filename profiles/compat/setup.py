"""What is asked about: a driver with everything that must fit it."""

from dataclasses import dataclass

from profiles.compat.kinds import MemoryMode, ModuleFlavour, Use


@dataclass(frozen=True, slots=True)
class Component:
    """Something installed beside the driver, with its version."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Setup:
    """The words of a person. What is None or empty was not named; the order of entries does not matter.

    `gpus` are names, architectures or compute capabilities. `cuda` are toolkits of applications, `13.2` or `13.2.1`.
    `jit_ptx`: applications bring PTX and no machine code for these GPUs. `forward_package`: `13.0` of cuda-compat-13-0.
    `waived`: names of findings and unknowns that somebody accepted.
    """

    driver: str
    gpus: tuple[str, ...]
    cuda: tuple[str, ...] = ()
    jit_ptx: bool = False
    forward_package: str | None = None
    modules: ModuleFlavour | None = None
    platform: str | None = None
    components: tuple[Component, ...] = ()
    memory_mode: MemoryMode | None = None
    gsp_firmware: bool = True
    kernel: str | None = None
    uses: frozenset[Use] = frozenset()
    waived: frozenset[str] = frozenset()
