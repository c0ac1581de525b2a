"""Is this the file for this device, and does it hold the version that the bundle names? Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from provisioner import versions
from provisioner.firmware.package.descriptors import VENDOR_DEFINED, name_of, value_of
from provisioner.firmware.package.finding import PackageFinding, Severity
from provisioner.firmware.package.inspect import Inspection
from provisioner.firmware.package.model import Descriptor, PldmPackage

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """What was read of a device. `name` is its id in the inventory; `descriptors` as its firmware would tell them."""

    name: str
    descriptors: frozenset[Descriptor]


class Fit(StrEnum):
    """Whether firmware of a record is for a device."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """Nothing contradicts, and not everything that the record asks for was read."""


def package_findings(
    package: Inspection, wanted_version: str, *, extract: str | None = None, devices: Collection[DeviceIdentity] = ()
) -> tuple[PackageFinding, ...]:
    """Why it should not be sent, or what could not be judged; what the file says about itself comes first.

    ERROR: it does not hold `wanted_version`, or is for none of what was read of a device. `extract` is the catalog's
    pattern, which takes the comparable version out of a longer string.
    """
    found = [*package.findings, *_version(package, wanted_version, extract)]
    if package.package:
        found += [one for device in devices for one in _device(package.package, device)]
    return tuple(found)


def fit(record: tuple[Descriptor, ...], device: DeviceIdentity) -> Fit:
    """A record is for a device that has all of its descriptors (DSP0267); types that were not read say nothing."""
    read = {_type(one) for one in device.descriptors}
    missing = [one for one in record if one not in device.descriptors]
    if any(_type(one) in read for one in missing):
        return Fit.NO
    return Fit.UNKNOWN if missing else Fit.YES


def not_for(package: PldmPackage, device: DeviceIdentity) -> PackageFinding:
    """The package is for other devices: which."""
    asked = "; or ".join(" and ".join(_said(one) for one in record) for record in _records(package)[:_SHOWN])
    text = f"the package is not for it: it is for a device with {asked}; name the package of this model"
    return PackageFinding(Severity.ERROR, device.name, None, text)


def _version(package: Inspection, wanted: str, extract: str | None) -> Iterator[PackageFinding]:
    if not package.versions:
        text = f"this form ({package.kind}) does not tell its version: only its digest says that it is {wanted}"
        yield PackageFinding(Severity.NOTE, "version", None, text)
    elif not any(versions.equal(one, wanted, extract) for one in package.versions):
        shown = ", ".join(package.versions[:_SHOWN]) + (", ..." if len(package.versions) > _SHOWN else "")
        text = f"{wanted} is not in it; it holds {shown}; name the right file, or the right version"
        yield PackageFinding(Severity.ERROR, "version", None, text)


def _device(package: PldmPackage, device: DeviceIdentity) -> Iterator[PackageFinding]:
    records = _records(package)
    answers = [fit(one, device) for one in records]
    if not records or Fit.YES in answers:
        return
    if Fit.UNKNOWN in answers:
        text = "what was read of it does not tell whether the package is for it"
        yield PackageFinding(Severity.NOTE, device.name, None, text)
        return
    yield not_for(package, device)


def _records(package: PldmPackage) -> list[tuple[Descriptor, ...]]:
    """Of the package, and of those inside it."""
    found: list[tuple[Descriptor, ...]] = []
    for part in (package, *(inner for _, inner in package.inner)):
        found += [one.descriptors for one in part.devices]
        found += [one.descriptors for one in part.downstream]
    return found


def _type(descriptor: Descriptor) -> tuple[int, str | None]:
    """Vendor-defined descriptors are told apart by their title."""
    return descriptor.type, descriptor.title if descriptor.type == VENDOR_DEFINED else None


def _said(descriptor: Descriptor) -> str:
    return f"{name_of(descriptor.type)} {value_of(descriptor)}"
