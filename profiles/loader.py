"""A directory of YAML to a catalog, with every finding at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel

from profiles.catalog import Catalog
from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.bundle_profile import FirmwareBundleProfile, resolve_bundle
from profiles.firmware.catalog import FirmwareCatalog
from profiles.images.debian import DebianImage
from profiles.images.load import load_images
from profiles.models import AgentImage, BiosProfile, BurnInPlan, HardwareClass, ReleaseProfile
from profiles.validation import check_name, validate
from profiles.yaml_source import Located, read_yaml

FIRMWARE_CATALOGS = "firmware/catalogs"
"""The folder whose files are named like hardware classes; bundles choose from them."""
KINDS: dict[str, type[BaseModel]] = {
    "hardware": HardwareClass,
    "bios": BiosProfile,
    "firmware": FirmwareBundleProfile,
    FIRMWARE_CATALOGS: FirmwareCatalog,
    "burnin": BurnInPlan,
    "releases": ReleaseProfile,
}
"""Folders whose files stand alone."""
IMAGES = "images"
"""The folder whose files inherit from each other."""
FOLDERS = (*KINDS, IMAGES)
SHIPPED = Path(__file__).parent

Kind = TypeVar("Kind", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class _Loaded:
    located: Located
    profile: Any  # one of the models of KINDS or of images; None for an abstract image


_Folders = dict[str, dict[str, _Loaded]]


def load_catalog(directory: Path) -> Catalog:
    """Load every profile below `directory`; raise ProfileError with everything that is wrong.

    A profile's name is its file's name. References are judged only against files that are there, so that one bad
    file does not bring a finding for each of its users.
    """
    findings: list[Finding] = []
    folders: _Folders = {folder: {} for folder in FOLDERS}
    images: list[Path] = []
    for folder, path in _files(directory, findings):
        try:
            if folder == IMAGES:
                images.append(path)
            else:
                folders[folder][path.stem] = _load(KINDS[folder], path)
        except ProfileError as error:
            findings.extend(error.findings)
    loaded, of_images = load_images(images)
    findings.extend(of_images)
    folders[IMAGES] = {name: _Loaded(image.document, image.profile) for name, image in loaded.items()}
    findings.extend(_dangling(directory, folders))
    bundles = _resolve_bundles(folders, findings)
    if findings:
        raise ProfileError(findings)

    def by_name(folder: str, kind: type[Kind]) -> MappingProxyType[str, Kind]:
        profiles = {name: loaded.profile for name, loaded in folders[folder].items()}
        return MappingProxyType({name: p for name, p in profiles.items() if isinstance(p, kind)})

    return Catalog(
        hardware_classes=by_name("hardware", HardwareClass),
        bios_profiles=by_name("bios", BiosProfile),
        firmware_bundles=MappingProxyType(bundles),
        images=MappingProxyType({**by_name(IMAGES, AgentImage), **by_name(IMAGES, DebianImage)}),
        burn_in_plans=by_name("burnin", BurnInPlan),
        releases=by_name("releases", ReleaseProfile),
    )


def _files(directory: Path, findings: list[Finding]) -> Iterator[tuple[str, Path]]:
    found = False
    for folder in FOLDERS:
        for path in sorted((directory / folder).glob("*")):
            found = True
            if path.suffix == ".yaml":
                yield folder, path
            elif path.suffix in {".yml", ".json", ".toml"}:
                findings.append(Finding(path, 1, 1, "", "is not read", "rename it to .yaml"))
    if not found:
        folders = ", ".join(FOLDERS)
        findings.append(Finding(directory, 1, 1, "", "holds no profiles", f"expected folders: {folders}"))


def _load(model: type[BaseModel], path: Path) -> _Loaded:
    located = read_yaml(path)
    profile = validate(model, located)
    check_name(located, "hardware_class" if model is FirmwareCatalog else "name")
    return _Loaded(located, profile)


def _resolve_bundles(folders: _Folders, findings: list[Finding]) -> dict[str, FirmwareBundle]:
    """The bundles whose catalog is right; what is wrong with their versions goes to `findings`."""
    bundles = {}
    for name, written in folders["firmware"].items():
        catalog = folders[FIRMWARE_CATALOGS].get(written.profile.hardware_class)
        try:
            if catalog is not None:
                bundles[name] = resolve_bundle(written.profile, written.located, catalog.profile)
        except ProfileError as error:
            findings.extend(error.findings)
    return bundles


def _dangling(directory: Path, folders: _Folders) -> Iterator[Finding]:
    """Yield a finding for each name that leads nowhere or to a profile that does not fit."""
    for folder in ("bios", "firmware", FIRMWARE_CATALOGS):
        for user in folders[folder].values():
            yield from _refer(directory, folders, user, ("hardware_class", "hardware"), _anything_fits)
    for user in folders["firmware"].values():
        file = f"{FIRMWARE_CATALOGS}/{user.profile.hardware_class}.yaml"
        if user.profile.hardware_class in folders["hardware"] and not (directory / file).exists():
            yield user.located.finding(("hardware_class",), f"there is no {file}", "write it")
    for user in folders["releases"].values():
        of_class = _of_class(user.profile.hardware_class)
        hardware = folders["hardware"].get(user.profile.hardware_class)
        of_arch = _of_arch(hardware.profile) if hardware else _anything_fits
        for reference, fits in (
            (("hardware_class", "hardware"), _anything_fits),
            (("image", "images"), of_arch),
            (("firmware", "firmware"), of_class),
            (("bios", "bios"), of_class),
            (("burn_in", "burnin"), _anything_fits),
        ):
            yield from _refer(directory, folders, user, reference, fits)


def _refer(
    directory: Path, folders: _Folders, user: _Loaded, reference: tuple[str, str], fits: Callable[[Any], str]
) -> Iterator[Finding]:
    """Judge one reference: (field of the user, folder it points into)."""
    field, folder = reference
    name = getattr(user.profile, field)
    target = folders[folder].get(name)
    if target is not None:
        reason = fits(target.profile) if target.profile else "is abstract: it is there for others to inherit"
        if reason:
            yield user.located.finding((field,), f'"{name}" {reason}', "name one that fits")
    elif not (directory / folder / f"{name}.yaml").exists():
        hint = did_you_mean(name, folders[folder]) or f"write {folder}/{name}.yaml"
        yield user.located.finding((field,), f"there is no {folder}/{name}.yaml", hint)


def _anything_fits(_target: Any) -> str:
    return ""


def _of_class(hardware_class: str) -> Callable[[Any], str]:
    def fits(target: Any) -> str:
        if target.hardware_class == hardware_class:
            return ""
        return f"is for {target.hardware_class}, this release is for {hardware_class}"

    return fits


def _of_arch(hardware: HardwareClass) -> Callable[[Any], str]:
    def fits(target: Any) -> str:
        if target.arch == hardware.match.arch:
            return ""
        return f"is for {target.arch}, {hardware.name} is {hardware.match.arch}"

    return fits
