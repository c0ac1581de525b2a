"""From a firmware inventory and a bundle to what has to be flashed, in stages. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import Activation, Domain, Transport
from provisioner import versions
from provisioner.firmware.classes import Classes, at, matching
from provisioner.firmware.groups import staged
from provisioner.firmware.needs import Need, needs_of
from provisioner.firmware.stages import strongest
from provisioner.models.inventory import FirmwareComponent
from provisioner.versions import Verdict

__all__ = [
    "FirmwarePlan",
    "Stage",
    "Update",
    "as_complete",
    "matching",
    "plan_for",
    "plan_updates",
    "unproven",
    "unproven_of",
]


@dataclass(frozen=True, slots=True)
class Update:
    """One file, sent once, for one component class or for several that are in it.

    `component` and `version` are those of the first class. A class that goes through a stepping stone has an update
    for it in an earlier stage: what names one of them is the class and the version.
    """

    component: str
    version: str
    file: str
    digest: str
    targets: tuple[str, ...] | None
    """What the order names as Targets; None: the key is left out."""
    running: tuple[str, ...]
    """What the parts report now, for people; one per part."""
    activation: Activation
    """The strongest that one of the classes needs."""
    expected: timedelta
    """Of the flash alone, at the pace of real hardware."""
    components: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    """One per class."""
    parts: tuple[str, ...] = ()
    """URIs in the firmware inventory of the parts that are behind. They may be others after an activation."""
    domains: tuple[Domain, ...] = ()
    """What the activation takes down beside the node."""
    transports: tuple[Transport, ...] = ()
    oem: Mapping[str, Any] = field(default_factory=dict)
    size_bytes: int = 0
    irreversible: bool = False
    """Once it runs, the device refuses something that could run now."""


@dataclass(frozen=True, slots=True)
class Stage:
    """All updates are flashed, in order; then one activation makes all of them run; then all are verified."""

    updates: tuple[Update, ...]
    activation: Activation
    minutes: timedelta
    """Flashes, one after another, and the activation, at the pace of real hardware."""

    @property
    def activating(self) -> timedelta:
        """The activation alone."""
        return self.minutes - sum((update.expected for update in self.updates), timedelta())

    @property
    def domains(self) -> tuple[Domain, ...]:
        """What goes down with the activation, in the order of `Domain`; `node` is always there."""
        found = {Domain.NODE, *(one for update in self.updates for one in update.domains)}
        return tuple(domain for domain in Domain if domain in found)


@dataclass(frozen=True, slots=True)
class FirmwarePlan:
    """What would be done, stage by stage, and every reason why not all of it can be. With a reason, nothing is done."""

    stages: tuple[Stage, ...] = ()
    refusals: tuple[str, ...] = ()

    @property
    def updates(self) -> tuple[Update, ...]:
        """Of all stages, in order."""
        return tuple(update for stage in self.stages for update in stage.updates)

    @property
    def irreversible(self) -> tuple[str, ...]:
        """What cannot be taken back once it runs, for people."""
        return tuple(_no_way_back(update) for update in self.updates if update.irreversible)

    @property
    def minutes(self) -> timedelta:
        """Of all stages."""
        return sum((stage.minutes for stage in self.stages), timedelta())

    @property
    def power_cycle(self) -> bool:
        """The host has to go through a reset, or more, before everything runs."""
        return any(stage.activation not in {Activation.NONE, Activation.BMC_RESET} for stage in self.stages)

    @property
    def bmc_reset(self) -> bool:
        """The BMC has to be reset before everything runs."""
        return any(stage.activation is Activation.BMC_RESET for stage in self.stages)


ACTIVATION_MINUTES = {
    Activation.NONE: 0,
    Activation.BMC_RESET: 5,
    Activation.HOST_RESET: 8,
    Activation.POWER_CYCLE: 8,
    Activation.AUX_CYCLE: 12,
    Activation.AC_CYCLE: 13,
}
"""Where the catalog says nothing: a BMC is back after up to 5 minutes, and an 8-GPU server's self-test takes 8."""

_APPROVE = "approve it by policy: {irreversible: flash} in the bundle, or leave it out of the bundle"


def plan_updates(
    bundle: FirmwareBundle,
    inventory: Sequence[FirmwareComponent],
    *,
    allow_irreversible: bool = False,
    largest_bytes: int | None = None,
) -> FirmwarePlan:
    """What brings this inventory to the bundle.

    `allow_irreversible`: whatever the bundle's policy says, to show what would be done. `largest_bytes`: the BMC
    takes no larger package (MaxImageSizeBytes); None where it names no limit.
    """
    return plan_for(Classes(bundle), inventory, allow_irreversible=allow_irreversible, largest_bytes=largest_bytes)


def plan_for(
    classes: Classes,
    inventory: Sequence[FirmwareComponent],
    *,
    allow_irreversible: bool = False,
    largest_bytes: int | None = None,
) -> FirmwarePlan:
    """As `plan_updates`, for one of many nodes with the same bundle."""
    needs, refusals = needs_of(classes, inventory)
    try:
        order = staged(needs)
    except ValueError:
        circle = ", ".join(dict.fromkeys(need.wanted.component for need in needs if need.wanted.after))
        return FirmwarePlan((), (*refusals, f"{circle}: each comes after another of them; correct `after`"))
    stages = tuple(_stage([[needs[place] for place in group] for group in groups]) for groups in order)
    plan = FirmwarePlan(stages, (*refusals, *_unlike(needs, order)))
    if not allow_irreversible and classes.bundle.policy.irreversible == "refuse":
        refused = [f"{text}; {_APPROVE}" for text in plan.irreversible]
        plan = FirmwarePlan(stages, (*plan.refusals, *refused))
    return FirmwarePlan(stages, (*plan.refusals, *_too_large(plan, largest_bytes)))


def unproven(bundle: FirmwareBundle, inventory: Sequence[FirmwareComponent]) -> tuple[str, ...]:
    """The component classes that are not seen to run their version in every part, in the order of the bundle.

    Also those with no part in the inventory: what is not seen is not there, as it is while a BMC starts.
    """
    return tuple(
        wanted.component
        for wanted in bundle.components
        if not (parts := matching(wanted, inventory))
        or not all(versions.verdict(part.version, wanted) is Verdict.EQUAL for part in parts)
    )


def unproven_of(update: Update, bundle: FirmwareBundle, inventory: Sequence[FirmwareComponent]) -> tuple[str, ...]:
    """The classes of one update that are not seen to run what it brought, in every part.

    For a stepping stone a part may run something newer, for the wanted version it may not.
    """
    brought = dict(zip(update.components, update.versions, strict=True))
    left: list[str] = []
    for wanted in (one for one in bundle.components if one.component in brought):
        version = brought[wanted.component]
        good = {Verdict.EQUAL} if version == wanted.version else {Verdict.EQUAL, Verdict.NEWER}
        parts = matching(wanted, inventory)
        aim = at(wanted, version)
        if not parts or not all(versions.verdict(part.version, aim) in good for part in parts):
            left.append(wanted.component)
    return tuple(left)


def as_complete(
    bundle: FirmwareBundle, inventory: Sequence[FirmwareComponent], before: Sequence[FirmwareComponent]
) -> bool:
    """Every class has a part, and no fewer than `before`: a BMC that starts shows some of what there is."""
    return all(
        len(matching(wanted, inventory)) >= max(1, len(matching(wanted, before))) for wanted in bundle.components
    )


def _stage(groups: Sequence[Sequence[Need]]) -> Stage:
    updates = tuple(_update(group) for group in groups)
    activation = strongest([update.activation for update in updates])
    slowest = max(
        float(wanted.activation_minutes or ACTIVATION_MINUTES[activation])
        for wanted in (need.wanted for group in groups for need in group)
        if wanted.activation is activation
    )
    flashes = sum((update.expected for update in updates), timedelta())
    return Stage(updates, activation, flashes + timedelta(minutes=slowest))


def _update(needs: Sequence[Need]) -> Update:
    first = needs[0]
    parts = tuple(part for need in needs for part in need.parts)
    artefact = first.release.artefact
    return Update(
        component=first.wanted.component,
        version=first.release.version,
        file=artefact.file,
        digest=f"sha256:{artefact.sha256}",
        targets=_targets(first, parts),
        running=tuple(part.version or "" for part in parts),
        activation=strongest([need.wanted.activation for need in needs]),
        expected=timedelta(minutes=max(float(need.wanted.expected_minutes) for need in needs)),
        components=tuple(need.wanted.component for need in needs),
        versions=tuple(need.release.version for need in needs),
        parts=tuple(part.uri for part in parts),
        domains=tuple(dict.fromkeys(need.wanted.domain for need in needs)),
        transports=first.wanted.transports,
        oem=first.wanted.oem,
        size_bytes=artefact.size_bytes,
        irreversible=any(need.irreversible for need in needs),
    )


def _targets(need: Need, parts: Sequence[FirmwareComponent]) -> tuple[str, ...] | None:
    targets = need.wanted.targets
    if targets == "parts":
        return tuple(part.uri for part in parts)
    if targets == "absent":
        return None
    return () if targets == "empty" else tuple(targets)


def _unlike(needs: Sequence[Need], order: Sequence[Sequence[Sequence[int]]]) -> Iterator[str]:
    """One file for the same targets is sent once, so it can be sent in one way only."""
    for places in (group for groups in order for group in groups):
        first = needs[places[0]].wanted
        for other in (needs[place].wanted for place in places[1:]):
            if (other.transports, other.oem) != (first.transports, first.oem):
                yield (
                    f"{other.component}: it is updated with {first.component}, by one file for the same targets, but "
                    "in another way; make their transports and oem equal in the catalog"
                )


def _too_large(plan: FirmwarePlan, largest_bytes: int | None) -> Iterator[str]:
    for update in plan.updates:
        if largest_bytes is not None and update.size_bytes > largest_bytes:
            yield (
                f"{update.component}: {update.file} has {update.size_bytes} bytes, and this BMC takes no more than "
                f"{largest_bytes} (MaxImageSizeBytes); use a smaller package"
            )


def _no_way_back(update: Update) -> str:
    running = ", ".join(sorted(set(update.running)))
    return f"{', '.join(update.components)}: from {running} to {update.version} there is no way back"
