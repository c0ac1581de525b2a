"""Every version that a hardware class may run, as people write it: firmware/catalogs/<hardware class>.yaml."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from profiles.fields import Name, Profile, Text
from profiles.findings import did_you_mean
from profiles.firmware.component import Artefact, ComponentFacts, FirmwareRelease
from profiles.firmware.release_list import release_problems
from profiles.problems import Problem, refuse_if_any


class ListedComponent(ComponentFacts):
    """A component class with its releases in rank order, oldest first; versions are written as `extract` leaves them.

    Where `extract` is absent they are what the BMC reports, but for case and space around.
    """

    releases: Annotated[tuple[FirmwareRelease, ...], Field(min_length=1)]


class FirmwareCatalog(Profile):
    """The component classes of one hardware class, in the order of flashing; the usual one is BMC, CPLD, BIOS, boards.

    No components at all where the firmware is not ours to change; that has to be written.
    """

    hardware_class: Name
    description: Text
    components: tuple[ListedComponent, ...]

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        refuse_if_any(
            (
                *_repeated(self.components),
                *_shared_globs(self.components),
                *_wrong_after(self.components),
                *_wrong_targets(self.components),
                *_contradicting_files(self.components),
                *(
                    Problem(("components", index, *problem.at), problem.message, problem.hint)
                    for index, component in enumerate(self.components)
                    for problem in release_problems(component, component.releases)
                ),
            )
        )
        return self


def _repeated(components: tuple[ListedComponent, ...]) -> Iterator[Problem]:
    names = [component.component for component in components]
    for index, name in enumerate(names):
        if name in names[:index]:
            first = names.index(name)
            yield Problem(
                ("components", index, "component"), f'"{name}" is already components[{first}]', "keep one of them"
            )


def _shared_globs(components: tuple[ListedComponent, ...]) -> Iterator[Problem]:
    """A part is of one class: two of them with the same glob would both flash it, unless names tell them apart."""
    for index, component in enumerate(components):
        for place, glob in enumerate(component.inventory):
            owners = [
                other.component
                for other in components[:index]
                if glob in other.inventory and other.component != component.component and _share_names(component, other)
            ]
            if owners:
                message = f'"{glob}" is of {owners[0]} already'
                hint = "a part is of one component" + ("; give each of them other `names`" if component.names else "")
                yield Problem(("components", index, "inventory", place), message, hint)


def _share_names(one: ListedComponent, other: ListedComponent) -> bool:
    return not one.names or not other.names or not set(one.names).isdisjoint(other.names)


def _wrong_after(components: tuple[ListedComponent, ...]) -> Iterator[Problem]:
    places = {component.component: index for index, component in enumerate(components)}
    edges = {component.component: component.after for component in components}
    for index, component in enumerate(components):
        for place, name in enumerate(component.after):
            at = ("components", index, "after", place)
            cycle = _way_back(edges, name, component.component)
            if name not in places:
                yield Problem(at, f'there is no component "{name}" in this catalog', did_you_mean(name, places))
            elif cycle:
                way = " -> ".join((component.component, *cycle))
                yield Problem(at, f"waits for itself: {way}", "take one of these names out of `after`")
            elif places[name] > index:
                message = f'"{name}" is flashed later, as it is listed below'
                yield Problem(at, message, f"move {name} above {component.component}")


def _way_back(edges: Mapping[str, tuple[str, ...]], start: str, goal: str) -> tuple[str, ...]:
    """A shortest way along `after` from `start` to `goal`, both named; empty when there is none."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    for way in ways:
        if way[-1] == goal:
            return way
        following = [name for name in edges.get(way[-1], ()) if name not in seen]
        seen.update(following)
        ways.extend((*way, name) for name in following)
    return ()


def _wrong_targets(components: tuple[ListedComponent, ...]) -> Iterator[Problem]:
    for index, component in enumerate(components):
        if not isinstance(component.targets, tuple):
            continue
        at = ("components", index, "targets")
        if not component.targets:
            yield Problem(at, "names no resource", "write `empty` for an empty list, `absent` for no Targets at all")
        for place, uri in enumerate(component.targets):
            if not uri.startswith("/redfish/"):
                yield Problem((*at, place), f'"{uri}" is not the path of a resource', "begin it with /redfish/v1/")


def _contradicting_files(components: tuple[ListedComponent, ...]) -> Iterator[Problem]:
    """One file may bring several components; it has one content."""
    known: dict[str, Artefact] = {}
    for index, component in enumerate(components):
        for rank, release in enumerate(component.releases):
            artefact = release.artefact
            if known.setdefault(artefact.file, artefact) != artefact:
                at = ("components", index, "releases", rank, "artefact")
                message = f"{artefact.file} has another digest or size above"
                yield Problem(at, message, "write the digest of the file, or name another file")
