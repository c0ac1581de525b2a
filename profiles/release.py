"""A release: everything that a node should run, by content."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent
from profiles.firmware.release_list import stepping_stones
from profiles.images.profile import ImageProfile
from profiles.models import BiosProfile, BurnInPlan, HardwareClass
from profiles.release_constraints import ReleaseConstraints

# Words for people: a correction in them is not another release.
_FOR_PEOPLE = {"description", "owner", "labels", "extends"}


class Release(BaseModel):
    """A release profile resolved to content. Equal content has an equal digest, whatever the release is called."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    hardware_class: HardwareClass
    image: ImageProfile
    image_digest: str
    firmware: FirmwareBundle
    bios: BiosProfile
    burn_in: BurnInPlan
    constraints: ReleaseConstraints | None = None

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
            "firmware": _firmware_content(self.firmware),
            "bios": _content(self.bios),
            "burn_in": _content(self.burn_in),
        }
        if self.constraints is not None and self.constraints != ReleaseConstraints():
            content["constraints"] = self.constraints.model_dump(mode="json")  # came later than digests
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _firmware_content(bundle: FirmwareBundle) -> dict[str, Any]:
    """What is flashed, and on the way to it. What a catalog learns later of other versions is not another release."""
    content = _content(bundle)
    content["components"] = [_component_content(component) for component in bundle.components]
    return content


def _component_content(component: FirmwareComponent) -> dict[str, Any]:
    """`names` and `pldm` came later than digests: where none are given they are not written."""
    steps = stepping_stones(component.version, component.releases)
    left_out = {"releases", "floor", *(later for later in ("names", "pldm") if not getattr(component, later))}
    return {
        **component.model_dump(mode="json", exclude=left_out),
        "steps": [step.model_dump(mode="json") for step in steps],
    }


def _content(profile: ImageProfile | FirmwareBundle | BiosProfile | BurnInPlan) -> dict[str, Any]:
    return profile.model_dump(mode="json", exclude=_FOR_PEOPLE)
