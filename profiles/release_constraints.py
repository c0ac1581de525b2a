"""What people know of a release beyond its parts: where it may be reached from, and what way back there is."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent
from profiles.firmware.release_list import rank_of

_Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


def _sorted(digests: tuple[str, ...]) -> tuple[str, ...]:
    """Their order is no content."""
    return tuple(sorted(set(digests)))


class ReleaseConstraints(BaseModel):
    """Null: nobody has said. What the firmware catalog knows is not written here, it is derived."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    from_releases: Annotated[tuple[_Digest, ...], Field(max_length=1000), AfterValidator(_sorted)] = ()
    """Which releases nodes may come from; empty: any."""
    old_image_on_new_firmware: bool | None = None
    """The image that ran before runs on this firmware too, so that the image alone can go back."""
    firmware_downgrade: bool | None = None
    """Its firmware may be taken back to an older bundle."""


@dataclass(frozen=True, slots=True)
class Reversibility:
    """What is known about the way back from a release. None: nobody has said, and no catalog knows."""

    old_image_on_new_firmware: bool | None
    firmware_downgrade: bool | None
    one_way: tuple[str, ...]
    """Components past a version that devices do not go back over, such as `BIOS from 2.0`."""


def reversibility(bundle: FirmwareBundle, written: ReleaseConstraints | None) -> Reversibility:
    """From what people wrote and from the catalog; where the catalog knows that there is no way back, it wins."""
    said = written or ReleaseConstraints()
    one_way = tuple(line for component in bundle.components if (line := _line(component)))
    if one_way:
        downgrade: bool | None = False
    elif said.firmware_downgrade is not None:
        downgrade = said.firmware_downgrade
    else:
        downgrade = True if all(rank_of(one.version, one.releases) is not None for one in bundle.components) else None
    old_image = said.old_image_on_new_firmware
    if old_image is None and not bundle.components:
        old_image = True  # its firmware is not ours to change
    return Reversibility(old_image, downgrade, one_way)


def _line(component: FirmwareComponent) -> str | None:
    """The last release up to the wanted one that a device does not go back from."""
    rank = rank_of(component.version, component.releases)
    if rank is None:
        return None
    sealed = [one.version for one in component.releases[: rank + 1] if one.irreversible]
    return f"{component.component} from {sealed[-1]}" if sealed else None
