"""May this file be sent for these component classes? Before anything is asked of a BMC. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from profiles.firmware.component import Artefact, PackagePart
from provisioner import versions
from provisioner.firmware.package.descriptors import TYPES, VENDOR_DEFINED
from provisioner.firmware.package.finding import PackageFinding, Severity
from provisioner.firmware.package.fit import DeviceIdentity, Fit, fit, not_for, package_findings
from provisioner.firmware.package.inspect import Inspection
from provisioner.firmware.package.model import ComponentImage, Descriptor, DeviceRecord, DownstreamRecord, PldmPackage

_TYPES = {name.casefold().replace(" ", "_"): kind for kind, (name, _) in TYPES.items()}
_NUMBERS = frozenset({0x0000, 0x0001, 0x0100, 0x0101, 0x0102})
"""Types whose value people write most significant digit first; packages hold them the other way round."""
_SHOWN = 8

_Record = DeviceRecord | DownstreamRecord


@dataclass(frozen=True, slots=True)
class Claim:
    """What the catalog says that a file brings to one class.

    `stamp`: the comparison stamp of the version, where the catalog has one. `installed`: stamps by the versions that
    parts run now, as far as the catalog knows them.
    """

    component: str
    version: str
    extract: str | None = None
    part: PackagePart | None = None
    stamp: int | None = None
    installed: Mapping[str, int] | None = None


def refusals(artefact: Artefact, found: Inspection, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Every reason why it must not be sent: file, field, what is wrong, what to do. Empty: it may.

    What cannot be judged is no reason: forms of vendors tell neither devices nor versions, and then the digest decides.
    """
    content = tuple(_content(artefact, found))
    if content:
        return content
    return tuple(
        dict.fromkeys(
            f"{artefact.file}: {claim.component}: {finding}"
            for claim in claims
            for finding in _findings(found, claim)
            if finding.severity is Severity.ERROR
        )
    )


def device_of(claim: Claim) -> DeviceIdentity:
    """What the catalog says that the devices of a class tell about themselves."""
    written = claim.part.descriptors if claim.part else {}
    return DeviceIdentity("target hardware", frozenset(_descriptor(name, value) for name, value in written.items()))


def _content(artefact: Artefact, found: Inspection) -> Iterator[str]:
    if found.size_bytes != artefact.size_bytes:
        yield (
            f"{artefact.file}: size: it has {found.size_bytes} bytes, and the catalog says {artefact.size_bytes}; put "
            "the whole file there, or correct size_bytes in the catalog"
        )
    if found.sha256 != artefact.sha256:
        yield (
            f"{artefact.file}: sha256: its content is {found.sha256}, and the catalog says {artefact.sha256}; get the "
            "file from its maker again"
        )


def _findings(found: Inspection, claim: Claim) -> Iterator[PackageFinding]:
    if found.package is None or claim.part is None:
        yield from package_findings(found, claim.version, extract=claim.extract)
        return
    device = device_of(claim)
    records = [(part, record, fit(record.descriptors, device)) for part, record in _records(found.package)]
    certain = [(part, record) for part, record, answer in records if answer is Fit.YES]
    fitting = certain or [(part, record) for part, record, answer in records if answer is Fit.UNKNOWN]
    images = tuple(_images(found.package, fitting if records else None, claim.part.identifier))
    if records and not images and not certain:
        yield not_for(found.package, device)
        return
    yield from _of_images(images, found.package, claim)


def _of_images(images: Sequence[ComponentImage], package: PldmPackage, claim: Claim) -> Iterator[PackageFinding]:
    if not images:
        held = ", ".join(f"{one.identifier:#06x}" for one in _all_images(package)) or "none"
        asked = claim.part.identifier if claim.part else None
        wanted = "" if asked is None else f" with identifier {asked:#06x}"
        text = f"it has no component{wanted} for this device; it holds {held}; name the package of this model"
        yield _error("component identifier", text)
        return
    told = list(dict.fromkeys(one.version for one in images))
    if not any(versions.equal(one, claim.version, claim.extract) for one in told):
        shown = ", ".join(told[:_SHOWN])
        text = f"{claim.version} is not in it; it holds {shown}; name the right file, or the right version"
        yield _error("component version string", text)
        return
    for image in images:
        yield from _stamps(image, claim)


def _stamps(image: ComponentImage, claim: Claim) -> Iterator[PackageFinding]:
    """A device takes nothing whose stamp is below its own (DSP0267, "ComponentComparisonStamp")."""
    if image.stamp is None:
        return
    if claim.stamp is not None and image.stamp != claim.stamp:
        said = f"{image.stamp:#010x}, and the catalog says {claim.stamp:#010x}"
        text = f"{said}; name the right file, or correct the catalog"
        yield _error("component comparison stamp", text)
    for version, stamp in (claim.installed or {}).items():
        if image.stamp < stamp:
            text = (
                f"{image.stamp:#010x} is below {stamp:#010x} of {version}, which runs: the device refuses it as older; "
                "leave the class out of the bundle, or name a version that is not older"
            )
            yield _error("component comparison stamp", text)


def _records(package: PldmPackage) -> Iterator[tuple[PldmPackage, _Record]]:
    """Of the package, and of those inside it, each with the package whose components its bitmap names."""
    for part in (package, *(inner for _, inner in package.inner)):
        yield from ((part, record) for record in part.devices)
        yield from ((part, record) for record in part.downstream)


def _images(
    package: PldmPackage, fitting: Sequence[tuple[PldmPackage, _Record]] | None, identifier: int | None
) -> Iterator[ComponentImage]:
    """Those that a fitting record names; all of a package without records (None). By the identifier, if given."""
    places = {(id(part), index): part for part, record in fitting or () for index in record.components}
    named = [part.components[index] for (_, index), part in places.items()]
    named = list(package.components) if fitting is None else named
    return (one for one in named if identifier is None or one.identifier == identifier)


def _all_images(package: PldmPackage) -> list[ComponentImage]:
    found = [one for part in (package, *(inner for _, inner in package.inner)) for one in part.components]
    return list({one.identifier: one for one in found}.values())[:_SHOWN]


def _descriptor(name: str, value: str) -> Descriptor:
    data, kind = bytes.fromhex(value.removeprefix("0x")), _TYPES.get(name)
    if kind is None:
        return Descriptor(VENDOR_DEFINED, data, name)
    return Descriptor(kind, data[::-1] if kind in _NUMBERS else data)


def _error(field: str, text: str) -> PackageFinding:
    return PackageFinding(Severity.ERROR, field, None, text)
