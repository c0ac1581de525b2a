"""Releases as the API shows them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from profiles.release import Release
from profiles.release_check import ReleaseReason
from profiles.release_constraints import ReleaseConstraints, reversibility
from provisioner.capabilities.promotions import ReleaseRecord
from provisioner.services.releases import MadeRelease


class ReleaseView(BaseModel):
    """A release in a list. `made_at` and `made_by` are null where the site's own configuration brought it."""

    digest: str
    name: str
    hardware_class: str
    made_at: datetime | None
    made_by: str | None

    @classmethod
    def of(cls, record: ReleaseRecord) -> Self:
        """The view."""
        return cls(
            digest=record.digest,
            name=record.name,
            hardware_class=record.hardware_class,
            made_at=record.made_at,
            made_by=record.made_by,
        )


class ReleasePage(BaseModel):
    """Newest first. `next` is the cursor of the page after this one; null on the last."""

    releases: list[ReleaseView]
    next: str | None


class ComponentView(BaseModel):
    """One component of its firmware."""

    component: str
    version: str


class ReversibilityView(BaseModel):
    """What way back there is. Null: nobody has said, and no catalog knows.

    `one_way`: components past a version that their devices do not go back over.
    """

    old_image_on_new_firmware: bool | None
    firmware_downgrade: bool | None
    one_way: list[str]


class ReasonView(BaseModel):
    """Something that is known about how its parts go together. `severity`: refusal, unknown or finding."""

    field: str
    severity: str
    name: str
    text: str

    @classmethod
    def all_of(cls, reasons: Iterable[ReleaseReason]) -> list[Self]:
        """The views."""
        return [cls(field=one.field, severity=one.severity, name=one.name, text=one.text) for one in reasons]


class ReleaseContent(BaseModel):
    """What is in a release; its digest covers this."""

    digest: str
    name: str
    hardware_class: str
    image: str
    image_digest: str
    firmware: str
    components: list[ComponentView]
    bios: str
    bios_attributes: dict[str, str | int | bool]
    burn_in: str
    constraints: ReleaseConstraints
    reversibility: ReversibilityView
    reasons: list[ReasonView]

    @classmethod
    def content_of(cls, release: Release, reasons: Iterable[ReleaseReason]) -> Self:
        """The view."""
        return cls.model_validate(content(release, reasons))


class ReleaseDetail(ReleaseContent):
    """A release that is kept, with today's view of how its parts go together."""

    made_at: datetime | None
    made_by: str | None

    @classmethod
    def of(cls, made: MadeRelease) -> Self:
        """The view."""
        told = {"made_at": made.record.made_at, "made_by": made.record.made_by}
        return cls.model_validate(content(made.release, made.reasons) | told)


def content(release: Release, reasons: Iterable[ReleaseReason]) -> dict[str, object]:
    """The fields of `ReleaseContent`."""
    back = reversibility(release.firmware, release.constraints)
    return {
        "digest": release.digest,
        "name": release.name,
        "hardware_class": release.hardware_class.name,
        "image": release.image.name,
        "image_digest": release.image_digest,
        "firmware": release.firmware.name,
        "components": [
            ComponentView(component=one.component, version=one.version) for one in release.firmware.components
        ],
        "bios": release.bios.name,
        "bios_attributes": dict(release.bios.attributes),
        "burn_in": release.burn_in.name,
        "constraints": release.constraints or ReleaseConstraints(),
        "reversibility": ReversibilityView(
            old_image_on_new_firmware=back.old_image_on_new_firmware,
            firmware_downgrade=back.firmware_downgrade,
            one_way=list(back.one_way),
        ),
        "reasons": ReasonView.all_of(reasons),
    }
