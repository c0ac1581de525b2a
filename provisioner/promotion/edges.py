"""May nodes that run one release go to another? Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from profiles.release import Release
from provisioner.firmware.classes import Classes, Way


@dataclass(frozen=True, slots=True)
class Edge:
    """From one release to another. `one_way`: components whose devices refuse the old version afterwards."""

    refusals: tuple[str, ...]
    one_way: tuple[str, ...]


def edge(old: Release, new: Release) -> Edge:
    """Everything that speaks against it, and what cannot go back."""
    if old.digest == new.digest:
        return Edge((), ())
    ways = list(_ways(old, new))
    refusals = [f"{component}: {way.refusal}" for component, way in ways if way.refusal]
    one_way = [component for component, way in ways if any(way.irreversible)]
    return Edge((*_declared(old, new), *refusals), tuple(one_way))


def _declared(old: Release, new: Release) -> Iterator[str]:
    if old.hardware_class.name != new.hardware_class.name:
        yield f"it is for {new.hardware_class.name}, and {old.name} is for {old.hardware_class.name}"
    allowed = new.constraints.from_releases if new.constraints else ()
    if allowed and old.digest not in allowed:
        names = ", ".join(one[:19] for one in allowed)
        yield f"it may follow {names} only, and {old.name} ({old.digest[:19]}) runs: promote one of those first"


def _ways(old: Release, new: Release) -> Iterator[tuple[str, Way]]:
    """The way of each component from the version of the old bundle; what that one left alone is not known."""
    versions = {one.component: one.version for one in old.firmware.components}
    classes = Classes(new.firmware)
    for index, wanted in enumerate(new.firmware.components):
        if wanted.component in versions:
            yield wanted.component, classes.way(index, versions[wanted.component])
