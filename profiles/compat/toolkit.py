"""CUDA toolkits against the driver: by the floor, backward, by minor version, or not without the forward package."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, fine, refusal, unknown
from profiles.compat.asked import Asked, Toolkit
from profiles.compat.forward import forward_package, needs_forward_package, takes_forward_package
from profiles.compat.versions import parse_prefix, parse_version

_LIMITS = "features that need a newer driver fail at run time, and PTX of a newer toolkit cannot be compiled"


def toolkits(asked: Asked) -> Iterator[Answer]:
    """Can programs of each toolkit run on this driver?"""
    for toolkit in asked.toolkits:
        if toolkit.preview is not None:
            text = f"CUDA {toolkit.name} is {toolkit.preview}"
            yield refusal("toolkit-is-preview", text, asked.facts.toolkits.sources)
            continue
        yield from _runs(asked, toolkit)
        yield from forward_package(asked, toolkit, needed=not runs_on_driver(asked, toolkit))
        if asked.setup.jit_ptx:
            yield from _compiles_ptx(asked, toolkit)


def runs_on_driver(asked: Asked, toolkit: Toolkit) -> bool:
    """Say whether the driver alone is enough, be it with the limits of minor-version compatibility."""
    if toolkit.min_driver is not None and asked.driver >= toolkit.min_driver:
        return True
    return _by_minor_version(asked, toolkit) is not None


def _runs(asked: Asked, toolkit: Toolkit) -> Iterator[Answer]:
    facts, driver, name = asked.facts, asked.setup.driver, f"CUDA {toolkit.name}"
    floor = _by_minor_version(asked, toolkit)
    if toolkit.min_driver is not None and asked.driver >= toolkit.min_driver:
        needed = facts.toolkits.releases[toolkit.name]
        yield fine("toolkit-supported", f"{name} needs {needed}; {driver} is enough", facts.toolkits.sources)
    elif asked.native_cuda > toolkit.minor:
        text = f"{name} is older than CUDA {asked.branch.cuda} of R{asked.branch.branch}: a newer driver runs it"
        yield fine("toolkit-older-than-driver", text, facts.backward.sources)
    elif floor is not None:
        text = f"{name} runs on {driver} by minor-version compatibility (from {floor}): {_LIMITS}"
        yield fine("toolkit-by-minor-version", text, facts.minor_versions.sources)
        if toolkit.min_driver is None and asked.native_cuda == toolkit.minor:
            text = f"the lowest driver with all features of {name} is not established; {driver} may be below it"
            yield unknown("toolkit-floor-unknown", text, facts.toolkits.sources)
    elif asked.setup.forward_package is None:
        yield needs_forward_package(asked, toolkit)


def _by_minor_version(asked: Asked, toolkit: Toolkit) -> str | None:
    """The driver from which any toolkit of this major runs, if this driver is not older."""
    for row in asked.facts.minor_versions.majors:
        if row.major == toolkit.number[0] and asked.driver >= parse_version(row.min_driver):
            return row.min_driver
    return None


def _compiles_ptx(asked: Asked, toolkit: Toolkit) -> Iterator[Answer]:
    """PTX is compiled by the driver, or by the one inside a forward package."""
    if not runs_on_driver(asked, toolkit) and asked.setup.forward_package is None:
        return
    newest, where = asked.native_cuda, f"R{asked.branch.branch} (CUDA {asked.branch.cuda})"
    package = asked.setup.forward_package
    if package is not None and takes_forward_package(asked, toolkit):
        newest, where = parse_prefix(package), f"cuda-compat {package}"
    sources = asked.facts.minor_versions.sources
    if toolkit.minor > newest:
        text = f"{where} cannot compile PTX of CUDA {toolkit.name}: ship machine code for every GPU, or a newer driver"
        yield refusal("ptx-newer-than-driver", text, sources)
    else:
        yield fine("ptx-compiles", f"{where} compiles PTX of CUDA {toolkit.name}", sources)
