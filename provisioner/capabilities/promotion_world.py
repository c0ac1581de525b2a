"""Everything that a promotion is decided by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from profiles.compat.facts import CompatibilityFacts
from profiles.images.profile import ImageProfile
from provisioner.capabilities.channels import Channels
from provisioner.capabilities.promotions import Promotions, ReleaseRecords, Soaks
from provisioner.capabilities.release_stops import ReleaseStops
from provisioner.capabilities.statements import Statements
from provisioner.models.channel import Channel
from provisioner.promotion.policy import Policy


class BuiltImages(Protocol):
    """The images as they are built now."""

    def digest_of(self, image: ImageProfile) -> str:
        """Raises `BadInput` with what to run where it has not been built."""
        ...

    def keep(self, digest: str) -> None:
        """All of it is there, and is collected no sooner than if it were new. Raises `NotFound` where it is not."""
        ...


@dataclass(frozen=True, slots=True)
class PromotionWorld:
    """One concern per field; `wiring` knows what stands behind each."""

    promotions: Promotions
    channels: Channels
    soaks: Soaks
    releases: ReleaseRecords
    statements: Statements
    stops: ReleaseStops
    policies: Mapping[Channel, Policy]
    """Every channel is there."""
    compatibility: CompatibilityFacts
    images: BuiltImages
