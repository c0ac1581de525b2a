"""Does a class run a version? And which part is it, where new firmware has given it another id? Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from profiles.firmware.bundle import FirmwareBundle
from provisioner import versions
from provisioner.firmware.classes import at, matching
from provisioner.models.inventory import FirmwareComponent
from provisioner.versions import Verdict


@dataclass(frozen=True, slots=True)
class Proof:
    """One class beside one version. `parts`: the ids that run it; `left`: what each other part says, for people."""

    parts: tuple[str, ...]
    left: tuple[str, ...]
    silent: bool
    """A part says nothing, or none is there: nobody can tell yet."""

    @property
    def runs(self) -> bool:
        """Every part runs it, and there is one."""
        return bool(self.parts) and not self.left and not self.silent


def prove(
    bundle: FirmwareBundle, component: str, version: str, inventory: Sequence[FirmwareComponent], part: str = ""
) -> Proof:
    """`part`: only the part with this id, if it is still there. A class that the bundle does not name is silent.

    For a stepping stone a part may run something newer; for the wanted version it may not.
    """
    wanted = next((one for one in bundle.components if one.component == component), None)
    if wanted is None:
        return Proof((), (f"the bundle does not name {component}",), silent=True)
    parts = matching(wanted, inventory)
    parts = tuple(one for one in parts if one.id == part) or parts
    good = {Verdict.EQUAL} if version == wanted.version else {Verdict.EQUAL, Verdict.NEWER}
    verdicts = [(one, versions.verdict(one.version, at(wanted, version))) for one in parts]
    left = [f"{one.id} runs {one.version}" for one, said in verdicts if said not in {*good, Verdict.MISSING}]
    mute = [f"{one.id} says no version" for one, said in verdicts if said is Verdict.MISSING]
    none = [] if parts else [f"no part of {component} is in the inventory"]
    running = tuple(one.id for one, said in verdicts if said in good)
    return Proof(running, (*left, *mute, *none), silent=bool(mute or none))


def known_as(
    bundle: FirmwareBundle, before: Sequence[FirmwareComponent], now: Sequence[FirmwareComponent]
) -> tuple[FirmwareComponent, ...]:
    """`now`, with the ids that the bundle knows where new firmware has renamed a part (sonic-buildimage#29631).

    Only where a class has fewer parts than before: ids of Dell's hold the version, and its globs know that. A part that
    is gone and a new one that no class names are the same where both are firmware of the same resources
    (RelatedItem), or, where that is not said, have the same name; and there is only one such pair.
    """
    ids = {part.id for part in now}
    named = {part.id for wanted in bundle.components for part in matching(wanted, (*before, *now))}
    short = [one for one in bundle.components if len(matching(one, now)) < len(matching(one, before))]
    gone = [part for wanted in short for part in matching(wanted, before) if part.id not in ids]
    new = [part for part in now if part.id not in named and part.id not in {one.id for one in before}]
    if not gone or not new:
        return tuple(now)
    names = {found.id: part.id for part in gone for found in [_same(part, gone, new)] if found is not None}
    return tuple(replace(part, id=names.get(part.id, part.id)) for part in now)


def _same(
    part: FirmwareComponent, gone: Sequence[FirmwareComponent], new: Sequence[FirmwareComponent]
) -> FirmwareComponent | None:
    """The one of `new` that can be nothing but `part`."""
    for key in (_related, _name):
        found = [one for one in new if key(one) and key(one) == key(part)]
        if len(found) == 1 and sum(key(one) == key(part) for one in gone) == 1:
            return found[0]
    return None


def _related(part: FirmwareComponent) -> frozenset[str]:
    return frozenset(part.related)


def _name(part: FirmwareComponent) -> str:
    return part.name.casefold().strip()
