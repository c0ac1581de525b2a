"""From BIOS attributes and a profile to what has to be set. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from profiles.models import BiosProfile

BiosValue = str | int | bool | None


@dataclass(frozen=True, slots=True)
class BiosPlan:
    """`changes`: attribute -> wanted value, only where it differs. `refusals`: every reason why it cannot be done."""

    changes: Mapping[str, str | int | bool] = field(default_factory=dict)
    refusals: tuple[str, ...] = ()


def plan_bios(profile: BiosProfile, current: Mapping[str, BiosValue]) -> BiosPlan:
    """Names come from the live resource: a name that it lacks is refused unless the profile calls it optional."""
    changes: dict[str, str | int | bool] = {}
    refusals = []
    for name, wanted in profile.attributes.items():
        if name not in current:
            if name not in profile.optional:
                refusals.append(f"{name}: this BIOS has no such attribute")
        elif not same(current[name], wanted):
            changes[name] = wanted
    return BiosPlan(changes, tuple(refusals))


def same(current: BiosValue, wanted: BiosValue) -> bool:
    """Equal in value and, for booleans, in type: `1` is not `true` to a BMC."""
    return type(current) is type(wanted) and current == wanted
