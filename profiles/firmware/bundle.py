"""A bundle, resolved: component versions that were tested together, and what may be done about others."""

from typing import Literal, Self

from pydantic import Field, model_validator

from profiles.fields import Name, Profile, Text
from profiles.firmware.component import FirmwareComponent
from profiles.problems import Problem, refuse_if_any


class BundlePolicy(Profile):
    """What to do about a part whose version is newer than the bundle's, or of unknown order.

    `irreversible`: flash is the approval of releases that no device of this bundle can leave for an older one again.
    """

    newer: Literal["flash", "refuse"] = "refuse"
    unknown: Literal["flash", "refuse"] = "flash"
    irreversible: Literal["flash", "refuse"] = "refuse"


class FirmwareBundle(Profile):
    """Component versions that were tested together, in the order of flashing.

    None at all where the firmware is not ours to change, as on virtual machines; that has to be written.
    """

    name: Name
    description: Text
    hardware_class: Name
    policy: BundlePolicy = Field(default_factory=BundlePolicy)
    components: tuple[FirmwareComponent, ...]

    @model_validator(mode="after")
    def _components_are_distinct(self) -> Self:
        names = [component.component for component in self.components]
        refuse_if_any(
            Problem(("components", index, "component"), f'"{name}" is there twice', "keep one of them")
            for index, name in enumerate(names)
            if name in names[:index]
        )
        return self
