"""GPU architectures: the window of branches that drive one, and of toolkits that compile for it."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, finding, fine, refusal, unknown
from profiles.compat.asked import Asked, Gpu, Toolkit
from profiles.compat.facts import Architecture
from profiles.compat.versions import is_after, parse_prefix


def driver_window(asked: Asked) -> Iterator[Answer]:
    """Does the branch drive every GPU: not dropped yet, and known already?"""
    for gpu in asked.gpus:
        for architecture in gpu.architectures:
            yield _driven(asked, gpu, architecture)


def toolkit_window(asked: Asked) -> Iterator[Answer]:
    """Does every toolkit compile for every GPU: not dropped yet, and known already?"""
    for gpu in asked.gpus:
        for architecture in gpu.architectures:
            for toolkit in asked.toolkits:
                yield _compiled_for(asked, (gpu, architecture), toolkit)


def spoken(gpu: Gpu, architecture: Architecture) -> str:
    """`V100 (Volta 7.0)`, with how sure the facts about it are where that is less than sure."""
    confidence = "" if architecture.confidence == "high" else f", {architecture.confidence} confidence"
    capabilities = "/".join(architecture.capabilities)
    if gpu.name == architecture.name:
        return f"{gpu.name} ({capabilities}{confidence})"
    return f"{gpu.name} ({architecture.name} {capabilities}{confidence})"


def _driven(asked: Asked, gpu: Gpu, architecture: Architecture) -> Answer:
    branch, name = asked.branch, spoken(gpu, architecture)
    sources = asked.facts.architectures.window_sources
    if architecture.last_branch and branch.branch > architecture.last_branch:
        text = f"R{branch.branch} does not drive {name}: R{architecture.last_branch} is the last branch that does"
        return refusal("driver-dropped-architecture", text, sources)
    if architecture.first_branch and branch.branch < architecture.first_branch:
        text = f"R{branch.branch} does not drive {name}: R{architecture.first_branch} is the first branch that does"
        return refusal("driver-too-old-for-architecture", text, sources)
    first = architecture.cuda_first
    if not architecture.first_branch and first and asked.native_cuda < parse_prefix(first):
        newer = f"its first toolkit, CUDA {first}, is newer than CUDA {branch.cuda} of R{branch.branch}"
        text = f"no source names the first branch that drives {name}; {newer}"
        return unknown("first-branch-unknown", text, sources)
    return fine("driver-drives-architecture", f"R{branch.branch} drives {name}", sources)


def _compiled_for(asked: Asked, gpu: tuple[Gpu, Architecture], toolkit: Toolkit) -> Answer:
    architecture, name = gpu[1], spoken(*gpu)
    sources = asked.facts.architectures.toolkit_sources
    first, last = architecture.cuda_first, architecture.cuda_last
    if last and is_after(toolkit.number, parse_prefix(last)):
        text = f"CUDA {toolkit.name} does not compile for {name}: CUDA {last} is the last that does"
        return refusal("toolkit-dropped-architecture", text, sources)
    if first and toolkit.number < parse_prefix(first):
        text = f"CUDA {toolkit.name} is older than {name}, which begins with CUDA {first}: only PTX would run"
        return finding("toolkit-older-than-architecture", text, sources)
    return fine("toolkit-compiles-for-architecture", f"CUDA {toolkit.name} compiles for {name}", sources)
