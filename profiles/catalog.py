"""All profiles of one directory, and releases resolved to content."""

from collections.abc import Mapping
from dataclasses import dataclass

from profiles.firmware.bundle import FirmwareBundle
from profiles.images.profile import ImageProfile
from profiles.models import BiosProfile, BurnInPlan, HardwareClass, ReleaseProfile
from profiles.release import Release


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
