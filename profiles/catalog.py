"""All profiles of one directory, and releases resolved to content."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from profiles.models import (
    BiosProfile,
    BurnInPlan,
    FirmwareBundle,
    HardwareClass,
    ImageProfile,
    ReleaseProfile,
)

# Words for people: a correction in them is not another release.
_FOR_PEOPLE = {"description"}


@dataclass(frozen=True, slots=True)
class Release:
    """A release profile resolved to content. Equal content has an equal digest, whatever the release is called."""

    name: str
    hardware_class: HardwareClass
    image: ImageProfile
    image_digest: str
    firmware: FirmwareBundle
    bios: BiosProfile
    burn_in: BurnInPlan

    @property
    def digest(self) -> str:
        """Return `sha256:<hex>` over the canonical JSON."""
        return f"sha256:{hashlib.sha256(self.canonical_json()).hexdigest()}"

    def canonical_json(self) -> bytes:
        """Return the content with sorted keys and compact separators, UTF-8."""
        hardware = self.hardware_class
        content: dict[str, Any] = {
            "schema": "firstlight.release/1",
            "hardware_class": hardware.name,
            "gpu_count": hardware.gpu_count,
            "nvlink_domain_size": hardware.nvlink_domain_size,
            "image": {"digest": self.image_digest, **_content(self.image)},
            "firmware": _content(self.firmware),
            "bios": _content(self.bios),
            "burn_in": _content(self.burn_in),
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class Catalog:
    """The profiles by name. Every name that one of them uses exists here and fits."""

    hardware_classes: Mapping[str, HardwareClass]
    bios_profiles: Mapping[str, BiosProfile]
    firmware_bundles: Mapping[str, FirmwareBundle]
    images: Mapping[str, ImageProfile]
    burn_in_plans: Mapping[str, BurnInPlan]
    releases: Mapping[str, ReleaseProfile]

    def resolve_release(self, name: str, image_digest: str) -> Release:
        """Return the release with the image as built; raise KeyError when there is none of that name."""
        release = self.releases[name]
        return Release(
            name=name,
            hardware_class=self.hardware_classes[release.hardware_class],
            image=self.images[release.image],
            image_digest=image_digest,
            firmware=self.firmware_bundles[release.firmware],
            bios=self.bios_profiles[release.bios],
            burn_in=self.burn_in_plans[release.burn_in],
        )


def _content(profile: ImageProfile | FirmwareBundle | BiosProfile | BurnInPlan) -> dict[str, Any]:
    return profile.model_dump(mode="json", exclude=_FOR_PEOPLE)
