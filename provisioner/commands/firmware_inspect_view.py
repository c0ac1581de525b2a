"""Firmware files for programs: bytes in hexadecimal, bitmaps as component numbers, bits as words."""

from typing import Any

from provisioner.errors import PackageError
from provisioner.firmware.package.components import activations
from provisioner.firmware.package.descriptors import name_of
from provisioner.firmware.package.inspect import Inspection
from provisioner.firmware.package.model import (
    ComponentImage,
    Descriptor,
    DeviceRecord,
    DownstreamRecord,
    Manifest,
    PldmPackage,
)


def inspection_view(inspection: Inspection) -> dict[str, Any]:
    """Everything about a file that is not refused."""
    return {
        "refused": None,
        "kind": inspection.kind,
        "what": inspection.what,
        "size_bytes": inspection.size_bytes,
        "sha256": inspection.sha256,
        "versions": inspection.versions,
        "findings": inspection.findings,
        "package": _package(inspection.package) if inspection.package else None,
    }


def refusal_view(error: PackageError) -> dict[str, Any]:
    """Why a file is refused."""
    told = {"field": error.field, "offset": error.offset, "problem": error.problem, "remedy": error.remedy}
    return {"refused": told}


def _package(package: PldmPackage) -> dict[str, Any]:
    return {
        "revision": package.revision,
        "header_bytes": package.header_bytes,
        "size_bytes": package.size_bytes,
        "released": package.released,
        "version": package.version,
        "header_crc": f"{package.header_crc:#010x}",
        "payload_crc": None if package.payload_crc is None else f"{package.payload_crc:#010x}",
        "devices": [_device(one) for one in package.devices],
        "downstream_devices": [_downstream(one) for one in package.downstream],
        "components": [_component(one) for one in package.components],
        "inner_packages": [{"component": number, "package": _package(inner)} for number, inner in package.inner],
    }


def _device(record: DeviceRecord) -> dict[str, Any]:
    return {
        "set_version": record.set_version,
        "names": record.names,
        "continues_after_failure": record.continues_after_failure,
        "components": record.components,
        "descriptors": [_descriptor(one) for one in record.descriptors],
        "package_data": record.package_data,
        "reference_manifest": _manifest(record.manifest),
    }


def _downstream(record: DownstreamRecord) -> dict[str, Any]:
    return {
        "minimum_version": record.minimum_version,
        "minimum_comparison_stamp": record.minimum_stamp,
        "components": record.components,
        "descriptors": [_descriptor(one) for one in record.descriptors],
        "package_data": record.package_data,
        "reference_manifest": _manifest(record.manifest),
    }


def _descriptor(one: Descriptor) -> dict[str, Any]:
    return {"type": one.type, "name": name_of(one.type), "title": one.title, "data": one.data.hex()}


def _component(one: ComponentImage) -> dict[str, Any]:
    return {
        "classification": one.classification,
        "identifier": one.identifier,
        "version": one.version,
        "comparison_stamp": one.comparison_stamp,
        "options": one.options,
        "activation": activations(one),
        "image": one.image,
        "opaque_data": one.opaque,
    }


def _manifest(manifest: Manifest | None) -> dict[str, Any] | None:
    if manifest is None:
        return None
    vendor = manifest.vendor_id.hex()
    return {"standards_body": manifest.standards_body, "vendor_id": vendor, "data": manifest.extent}
