"""The forward-compatibility package, `cuda-compat-<major>-<minor>`: a user-space driver newer than the kernel's."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, Severity, finding, fine, refusal, unknown
from profiles.compat.asked import Asked, Toolkit
from profiles.compat.versions import Version, parse_prefix


def needs_forward_package(asked: Asked, toolkit: Toolkit) -> Answer:
    """The driver alone cannot run this toolkit, and no package was named."""
    facts, package = asked.facts, _spelt(toolkit.minor)
    floors = [row.min_driver for row in facts.minor_versions.majors if row.major == toolkit.number[0]]
    driver = f"a driver from {floors[0]} on" if floors else "a newer driver"
    text = (
        f"CUDA {toolkit.name} does not run on {asked.setup.driver}: it needs {driver}, "
        f"or {package} where that is supported"
    )
    return refusal("needs-forward-compatibility", text, (*facts.minor_versions.sources, *facts.forward.sources))


def forward_package(asked: Asked, toolkit: Toolkit, *, needed: bool) -> Iterator[Answer]:
    """Everything about the named package for this toolkit."""
    if asked.setup.forward_package is None:
        return
    package, sources = parse_prefix(asked.setup.forward_package), asked.facts.forward.sources
    problems = list(_problems(asked, toolkit, package))
    yield from problems
    if not needed and not asked.setup.jit_ptx:
        text = f"{_spelt(package)} is not needed: {asked.setup.driver} runs CUDA {toolkit.name} by itself; leave it out"
        yield finding("forward-package-not-needed", text, sources)
    elif not problems:
        text = f"{_spelt(package)} runs CUDA {toolkit.name} on the kernel driver R{asked.branch.branch}"
        yield fine("forward-compatibility", text, sources)


def takes_forward_package(asked: Asked, toolkit: Toolkit) -> bool:
    """Say whether nothing refuses the named package."""
    package = parse_prefix(asked.setup.forward_package or "0.0")
    return all(one.severity is not Severity.REFUSAL for one in _problems(asked, toolkit, package))


def _problems(asked: Asked, toolkit: Toolkit, package: Version) -> Iterator[Answer]:
    forward, branch, name = asked.facts.forward, asked.branch, _spelt(package)
    if package[0] != toolkit.number[0]:
        text = f"{name} is not for CUDA {toolkit.name}; take {_spelt(toolkit.minor)}"
        yield refusal("forward-package-of-another-major", text, forward.sources)
    if asked.native_cuda > package:
        text = f"{name} is older than the kernel driver R{branch.branch} (CUDA {branch.cuda}): error 803"
        yield refusal("forward-package-older-than-driver", text, forward.sources)
    known = {one for row in forward.branches if row.major == package[0] for one in row.branches}
    if branch.branch not in known:
        listed = ", ".join(f"R{one}" for one in sorted(known)) or "none"
        text = f"{name} is not known to be supported on R{branch.branch} (known: {listed}): taken as unsupported"
        yield refusal("forward-pair-not-listed", text, forward.sources)
    for gpu in asked.gpus:
        if gpu.data_centre is False:
            text = f"{name} does not work on {gpu.name}, which is no data-centre GPU: error 804"
            yield refusal("forward-not-on-this-gpu", text, forward.sources)
        elif gpu.data_centre is None:
            text = f"whether {name} works on {gpu.name} depends on the product: name it, or ask its server's vendor"
            yield unknown("forward-on-this-gpu-unknown", text, forward.sources)


def _spelt(package: Version) -> str:
    return "cuda-compat-" + "-".join(map(str, package[:2]))
