"""Does the new image of a part that runs the old one wait in it? Pure."""

from collections.abc import Sequence
from enum import StrEnum

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner import versions
from provisioner.firmware.classes import at, matching
from provisioner.models.inventory import FirmwareComponent
from provisioner.versions import Verdict

_OLD_IMAGES = ("backup", "golden", "previous", "rollback", "recovery")


class Image(StrEnum):
    """What the inventory says of it."""

    THERE = "there"
    GONE = "gone"
    """Another one is in its place: no cycle will make it run."""
    UNSAID = "unsaid"


def image_of(
    bundle: FirmwareBundle, component: str, version: str, inventory: Sequence[FirmwareComponent], part: str = ""
) -> Image:
    """Of all parts of the class that do not run the version (`part`: of this one alone); one that is gone decides."""
    wanted = next((one for one in bundle.components if one.component == component), None)
    if wanted is None:
        return Image.UNSAID
    goal = at(wanted, version)
    parts = matching(wanted, inventory)
    others = [one for one in inventory if one not in parts]
    behind = [one for one in parts if part in {"", one.id} and not _is(goal, one.version)]
    said = {_image_of(one, goal, others) for one in behind}
    return next((one for one in (Image.GONE, Image.THERE) if one in said), Image.UNSAID)


def _image_of(part: FirmwareComponent, goal: Wanted, others: Sequence[FirmwareComponent]) -> Image:
    """In the other slot of its entry, or in an entry of its own, such as Staging_BIOS beside BIOS."""
    if part.other_slot is not None:
        return Image.THERE if _is(goal, part.other_slot) else Image.GONE
    own = [one for one in others if part.id.casefold() in one.id.casefold() and _is(goal, one.version)]
    new = [one for one in own if not any(word in one.id.casefold() for word in _OLD_IMAGES)]
    return Image.THERE if new else Image.UNSAID


def _is(goal: Wanted, version: str | None) -> bool:
    return versions.verdict(version, goal) is Verdict.EQUAL
