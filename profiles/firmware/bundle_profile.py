"""A bundle as people write it: firmware/<name>.yaml chooses one version of each component from the catalog."""

from collections.abc import Iterator, Mapping
from typing import Literal

from profiles.fields import Name, Profile, Text
from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.firmware.bundle import BundlePolicy, FirmwareBundle
from profiles.firmware.catalog import FirmwareCatalog, ListedComponent
from profiles.firmware.component import FirmwareComponent, FirmwareRelease
from profiles.firmware.release_list import nearest_version, rank_of
from profiles.yaml_source import Located


class WrittenPolicy(BundlePolicy):
    """Both have to be written: what is done to a newer part is never by default."""

    newer: Literal["flash", "refuse"]
    unknown: Literal["flash", "refuse"]


class FirmwareBundleProfile(Profile):
    """Component versions that were tested together; a component of the catalog that is not named is left alone.

    The order of flashing is that of the catalog.
    """

    name: Name
    description: Text
    hardware_class: Name
    policy: WrittenPolicy
    versions: dict[Name, Text]


def resolve_bundle(written: FirmwareBundleProfile, located: Located, catalog: FirmwareCatalog) -> FirmwareBundle:
    """The bundle with everything that the catalog knows; raise ProfileError with every version that it does not."""
    listed = {component.component: component for component in catalog.components}
    findings = list(_findings(written.versions, located, listed))
    findings += [] if findings else _torn_boards(written.versions, located, listed)
    if findings:
        raise ProfileError(findings)
    return FirmwareBundle(
        name=written.name,
        description=written.description,
        hardware_class=written.hardware_class,
        policy=BundlePolicy(**written.policy.model_dump()),
        components=tuple(
            _resolved(component, written.versions)
            for component in catalog.components
            if component.component in written.versions
        ),
    )


def _findings(
    versions: Mapping[str, str], located: Located, listed: Mapping[str, ListedComponent]
) -> Iterator[Finding]:
    for name, version in versions.items():
        field = ("versions", name)
        component = listed.get(name)
        if component is None:
            message = "is not a component of the catalog"
            yield located.finding(field, message, did_you_mean(name, listed), at_key=True)
            continue
        rank = rank_of(version, component.releases)
        floor = rank_of(component.floor, component.releases) if component.floor else None
        if rank is None:
            message = f'"{version}" is not among the releases of {name}'
            yield located.finding(field, message, nearest_version(version, component.releases))
        elif floor is not None and rank < floor:
            message = f'"{version}" is below the floor of {name}, {component.floor}'
            yield located.finding(field, message, "name the floor or a later release")


def _torn_boards(
    versions: Mapping[str, str], located: Located, listed: Mapping[str, ListedComponent]
) -> Iterator[Finding]:
    """One file for a group of targets brings all of its components, wanted or not: a bundle names each of them."""
    for name, version in versions.items():
        component = listed[name]
        artefact = _release(component, version).artefact
        for other in listed.values():
            if other.component == name or component.targets == "parts" or other.targets != component.targets:
                continue
            brought = [one.version for one in other.releases if one.artefact.sha256 == artefact.sha256]
            named = versions.get(other.component)
            if brought and (named is None or _release(other, named).version not in brought):
                message = f"comes in {artefact.file}, which also brings {other.component} {brought[0]}"
                yield located.finding(("versions", name), message, f'write {other.component}: "{brought[0]}" too')


def _resolved(component: ListedComponent, versions: Mapping[str, str]) -> FirmwareComponent:
    """Facts and the release that is wanted. `after` names only components of the bundle: others are left alone."""
    release = _release(component, versions[component.component])
    facts = dict(component)
    return FirmwareComponent(
        **{**facts, "after": tuple(name for name in component.after if name in versions)},
        version=release.version,
        artefact=release.artefact,
    )


def _release(component: ListedComponent, version: str) -> FirmwareRelease:
    rank = rank_of(version, component.releases)
    if rank is None:
        raise ValueError(f"{component.component}: {version} is not listed")
    return component.releases[rank]
