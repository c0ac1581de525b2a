"""What a firmware update package says (DSP0267, "PLDM for Firmware Update"). Images and blobs stay where they are."""

from dataclasses import dataclass
from datetime import datetime

from provisioner.firmware.package.finding import PackageFinding

UNUSED_STAMP = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Extent:
    """A part of the file that was not loaded; `offset` counts from the start of its package."""

    offset: int
    size_bytes: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + self.size_bytes


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What identifies a device. `title`: of a vendor-defined one, such as NVIDIA's SKU and AP identifiers."""

    type: int
    data: bytes
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A reference manifest (1.3): whose it is, and where its bytes are."""

    standards_body: int
    vendor_id: bytes
    extent: Extent


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """Firmware for a device that has all of `descriptors`. `bitmap`: the components it takes, the lowest bit first.

    `offset`: where the record starts.
    """

    offset: int
    flags: int
    bitmap: bytes
    set_version: str
    descriptors: tuple[Descriptor, ...]
    package_data: Extent
    manifest: Manifest | None = None

    @property
    def continues_after_failure(self) -> bool:
        """Whether the other components are still sent when one fails (bit 0)."""
        return bool(self.flags & 1)

    @property
    def components(self) -> tuple[int, ...]:
        """Indexes of the components for it."""
        return _set_bits(self.bitmap)

    @property
    def names(self) -> tuple[str, ...]:
        """The set-version string split at commas: NVIDIA lists component names there."""
        return tuple(name for part in self.set_version.split(",") if (name := part.strip()))


@dataclass(frozen=True, slots=True)
class DownstreamRecord:
    """Firmware for a device behind the one that takes the update (1.1). `minimum_stamp`: None where there is none."""

    offset: int
    flags: int
    bitmap: bytes
    minimum_version: str
    minimum_stamp: int | None
    descriptors: tuple[Descriptor, ...]
    package_data: Extent
    manifest: Manifest | None = None

    @property
    def components(self) -> tuple[int, ...]:
        """Indexes of the components for it."""
        return _set_bits(self.bitmap)


@dataclass(frozen=True, slots=True)
class ComponentImage:
    """One image. `classification` 10 is firmware, 11 BIOS; `activation`: methods that its maker asks for, as bits."""

    classification: int
    identifier: int
    comparison_stamp: int
    options: int
    activation: int
    image: Extent
    version: str
    opaque: Extent | None = None

    @property
    def stamp(self) -> int | None:
        """The comparison stamp where the device is to use it (bit 1 of the options)."""
        return self.comparison_stamp if self.options & 2 else None


@dataclass(frozen=True, slots=True)
class PldmPackage:
    """One package; every offset counts from its own start.

    `inner`: packages that are components of this one, by the index of the component, one level deep.
    """

    revision: int
    """Of the header's form: 1 is DSP0267 1.0, 4 is 1.3."""
    header_bytes: int
    size_bytes: int
    released: datetime | None
    version: str
    devices: tuple[DeviceRecord, ...]
    downstream: tuple[DownstreamRecord, ...]
    components: tuple[ComponentImage, ...]
    header_crc: int
    payload_crc: int | None
    findings: tuple[PackageFinding, ...] = ()
    inner: tuple[tuple[int, "PldmPackage"], ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        """Every version that it names, each once: its own, of its sets, components and inner packages."""
        named = [self.version, *(one.set_version for one in self.devices)]
        named += [name for one in self.devices for name in one.names]
        named += [one.version for one in self.components]
        named += [version for _, package in self.inner for version in package.versions]
        return tuple(dict.fromkeys(version for version in named if version))


def _set_bits(bitmap: bytes) -> tuple[int, ...]:
    return tuple(8 * byte + bit for byte, value in enumerate(bitmap) for bit in range(8) if value >> bit & 1)
