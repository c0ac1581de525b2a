"""What `nvidia.yaml` holds: one class per table. None is "not established"."""

from collections.abc import Collection, Iterator
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from profiles.compat.kinds import (
    Branch,
    Capability,
    Confidence,
    DottedVersion,
    Major,
    Month,
    NeededModules,
    OpenModules,
    Prefix,
    SourceKey,
    Sources,
    Standing,
    ToolkitRelease,
)
from profiles.fields import Profile, Text
from profiles.findings import did_you_mean
from profiles.problems import Problem, refuse_if_any


class Source(Profile):
    """A public document."""

    title: Text
    url: Text


class BranchType(Profile):
    """LTS, PB, NFB or DEV."""

    pools: Standing
    use: Text


class BranchTypes(Profile):
    """The types by the vendor's abbreviation."""

    sources: Sources
    types: dict[str, BranchType]


class SeenVersion(Profile):
    """A version met in public, and when."""

    version: DottedVersion
    date: Text | None = None
    confidence: Confidence = "high"


class DriverBranch(Profile):
    """All drivers whose version begins with one number."""

    branch: Branch
    type: Text
    first_seen: SeenVersion | None = None
    last_seen: SeenVersion | None = None
    end_of_life: Month | None
    end_of_life_note: Text | None = None
    cuda: Prefix
    open_modules: OpenModules | None
    min_kernel: DottedVersion | None = None
    confidence: Confidence = "high"
    note: Text | None = None
    sources: Sources


class Architecture(Profile):
    """A generation of GPUs with its window of toolkits and branches."""

    name: Text
    capabilities: Annotated[tuple[Capability, ...], Field(min_length=1)]
    cuda_first: Prefix | None = None
    cuda_last: Prefix | None = None
    first_branch: Branch | None = None
    last_branch: Branch | None = None
    modules: NeededModules
    cpu: Text | None = None
    confidence: Confidence = "high"


class Architectures(Profile):
    """From the oldest to the newest."""

    window_sources: Sources
    toolkit_sources: Sources
    module_sources: Sources
    list: tuple[Architecture, ...]


class GpuModel(Profile):
    """A product by the name that people use."""

    name: Text
    architecture: Text
    capability: Capability
    data_centre: bool | None
    coherent: bool = False


class GpuModels(Profile):
    """The products that can be named."""

    sources: Sources
    list: tuple[GpuModel, ...]


class Toolkits(Profile):
    """CUDA toolkits and the lowest driver of each one's full feature set."""

    sources: Sources
    previews: dict[ToolkitRelease, Text]
    releases: dict[ToolkitRelease, DottedVersion | None]


class MajorFloor(Profile):
    """The driver from which a whole major works, with limits."""

    major: Major
    min_driver: DottedVersion
    confidence: Confidence = "high"
    note: Text | None = None


class MajorFloors(Profile):
    """One floor for each major."""

    sources: Sources
    majors: tuple[MajorFloor, ...]


class Backward(Profile):
    """A newer driver runs what older toolkits built."""

    sources: Sources


class ForwardBranches(Profile):
    """The kernel drivers that a compatibility package is known to work on."""

    major: Major
    branches: tuple[Branch, ...]


class Forward(Profile):
    """The compatibility packages, `cuda-compat-<major>-<minor>`."""

    sources: Sources
    branches: tuple[ForwardBranches, ...]


class Lockstep(Profile):
    """What must have the version of the driver."""

    sources: Sources
    exact: tuple[Text, ...]
    recommended: tuple[Text, ...]
    documented: tuple[Text, ...]


class Platform(Profile):
    """A baseboard or tray, and which fabric software its host runs."""

    name: Text
    gpus: tuple[Text, ...] | None
    needs: tuple[Text, ...]
    note: Text | None = None
    sources: Sources


class GspFirmware(Profile):
    """The GPU's own system processor."""

    sources: Sources
    parameter: Text


class MemoryModes(Profile):
    """Coherent GPU memory: managed by the driver, or NUMA nodes of the system."""

    sources: Sources
    parameter: Text
    first_driver: DottedVersion
    unset_before: Text
    flips_at_branch: Branch
    unset_after: Text
    driver_mode_excluded_at_first: tuple[Text, ...]


class GpuDirect(Profile):
    """RDMA and storage straight to GPU memory."""

    sources: Sources
    peermem_first_branch: Branch
    dma_buf_min_kernel: DottedVersion
    nvidia_fs_min: DottedVersion
    need_open_modules: tuple[Text, ...]


class CompatibilityFacts(Profile):
    """The whole file. Every source and every name that it uses is in it."""

    compiled: Text
    sources: dict[SourceKey, Source]
    branch_types: BranchTypes
    driver_branches: tuple[DriverBranch, ...]
    architectures: Architectures
    gpus: GpuModels
    toolkits: Toolkits
    minor_versions: MajorFloors
    backward: Backward
    forward: Forward
    lockstep: Lockstep
    platforms: tuple[Platform, ...]
    gsp_firmware: GspFirmware
    memory_mode: MemoryModes
    dcgm: MajorFloors
    gpu_direct: GpuDirect

    @model_validator(mode="after")
    def _names_lead_somewhere(self) -> Self:
        refuse_if_any([*_unknown_sources(self, (), self.sources), *self._dangling(), *self._out_of_order()])
        return self

    def _dangling(self) -> Iterator[Problem]:
        architectures = {one.name: one for one in self.architectures.list}
        models = {model.name for model in self.gpus.list}
        components = {*self.lockstep.exact, *self.lockstep.documented}
        for index, branch in enumerate(self.driver_branches):
            yield from _absent(("driver_branches", index, "type"), branch.type, self.branch_types.types)
        for index, gpu in enumerate(self.gpus.list):
            yield from _absent(("gpus", "list", index, "architecture"), gpu.architecture, architectures)
            if gpu.architecture in architectures:
                known = architectures[gpu.architecture].capabilities
                yield from _absent(("gpus", "list", index, "capability"), gpu.capability, known)
        for index, platform in enumerate(self.platforms):
            for at, name in enumerate(platform.gpus or ()):
                yield from _absent(("platforms", index, "gpus", at), name, models)
            for at, name in enumerate(platform.needs):
                yield from _absent(("platforms", index, "needs", at), name, components)

    def _out_of_order(self) -> Iterator[Problem]:
        numbers = [branch.branch for branch in self.driver_branches]
        for index in range(1, len(numbers)):
            if numbers[index] <= numbers[index - 1]:
                message = f"{numbers[index]} comes after {numbers[index - 1]}"
                yield Problem(("driver_branches", index, "branch"), message, "order the branches, each once")


def _unknown_sources(model: BaseModel, at: tuple[str | int, ...], known: dict[str, Source]) -> Iterator[Problem]:
    """Look through every table for fields that hold keys of sources."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if name.endswith("sources") and isinstance(value, tuple):
            for index, key in enumerate(value):
                yield from _absent((*at, name, index), key, known)
        elif isinstance(value, BaseModel):
            yield from _unknown_sources(value, (*at, name), known)
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from _unknown_sources(item, (*at, name, index), known)


def _absent(at: tuple[str | int, ...], name: str, known: Collection[str]) -> Iterator[Problem]:
    if name not in known:
        yield Problem(at, f'"{name}" is not in this file', did_you_mean(name, known))
