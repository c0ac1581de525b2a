"""What runs beside the driver: what a platform needs, and what must have the driver's version."""

from collections.abc import Iterator

from profiles.compat.answers import Answer, finding, fine, refusal, unknown
from profiles.compat.asked import Asked, Gpu
from profiles.compat.versions import parse_version


def lockstep(asked: Asked) -> Iterator[Answer]:
    """Components of the driver's own version."""
    facts, driver = asked.facts.lockstep, asked.setup.driver
    for component in asked.setup.components:
        equal = parse_version(component.version) == asked.driver
        text = f"{component.name} {component.version} is not the driver's version, {driver}"
        if component.name in facts.exact and not equal:
            yield refusal("component-version-differs", f"{text}: they must be equal", facts.sources)
        elif component.name in facts.recommended and not equal:
            yield finding("component-version-should-be-equal", f"{text}: they should be equal", facts.sources)
        elif component.name in (*facts.exact, *facts.recommended):
            yield fine("component-version-equal", f"{component.name} has the driver's version", facts.sources)
        elif component.name in facts.documented:
            yield _documented(asked, component.name, component.version)


def platform(asked: Asked) -> Iterator[Answer]:
    """Fabric software that the platform needs, and what has no business on it."""
    here = asked.platform
    if here is None:
        return
    note = f" ({here.note})" if here.note else ""
    versions = {name: f"{name} {asked.setup.driver}" for name in asked.facts.lockstep.exact}
    for name in here.needs:
        if asked.components(name):
            yield fine("component-named", f"{here.name} needs {name}{note}", here.sources)
        else:
            text = f"{here.name} needs {versions.get(name, name)}, and none is named{note}"
            yield refusal("component-missing", text, here.sources)
    for name in sorted({name for one in asked.facts.platforms for name in one.needs} - set(here.needs)):
        if asked.components(name):
            yield finding(
                "component-not-needed", f"{here.name} has no use for {name}: leave it out{note}", here.sources
            )
    for gpu in asked.gpus:
        if here.gpus is not None and not _may_be_on(asked, gpu, here.gpus):
            text = f"{here.name} holds {', '.join(here.gpus)}, not {gpu.name}"
            yield refusal("gpu-not-on-platform", text, here.sources)


def _documented(asked: Asked, name: str, version: str) -> Answer:
    sources = asked.facts.lockstep.sources
    if parse_version(version)[0] == asked.branch.branch:
        return fine("component-of-same-branch", f"{name} {version} is of the driver's branch", sources)
    text = f"whether {name} {version} goes with {asked.setup.driver} is the vendor's to say: see its release notes"
    return unknown("component-pairing-unknown", text, sources)


def _may_be_on(asked: Asked, gpu: Gpu, names: tuple[str, ...]) -> bool:
    """A product by its name; an architecture or capability if a product of it is on the platform."""
    models = {one.name: one for one in asked.facts.gpus.list}
    if gpu.name in models:
        return gpu.name in names
    architectures = {one.name for one in gpu.architectures}
    return any(models[name].architecture in architectures for name in names)
