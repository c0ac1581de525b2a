"""From a firmware inventory and a bundle to what has to be flashed, in order. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import Activation
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner import versions
from provisioner.models.inventory import FirmwareComponent


@dataclass(frozen=True, slots=True)
class Update:
    """One package for all parts of one component class that do not run the wanted version yet."""

    component: str
    version: str
    file: str
    digest: str
    targets: tuple[str, ...]
    """URIs in the firmware inventory, of exactly the parts that are behind."""
    running: tuple[str, ...]
    """What the targets report now, for people; one per target."""
    activation: Activation
    expected: timedelta


@dataclass(frozen=True, slots=True)
class FirmwarePlan:
    """What would be done, in order, or every reason why it cannot be."""

    updates: tuple[Update, ...]
    refusals: tuple[str, ...] = ()

    @property
    def power_cycle(self) -> bool:
        """The host has to go through a reset before everything runs."""
        return any(update.activation in _BY_HOST for update in self.updates)

    @property
    def bmc_reset(self) -> bool:
        """The BMC has to be reset before everything runs."""
        return any(update.activation is Activation.BMC_RESET for update in self.updates)


_BY_HOST = frozenset({Activation.HOST_RESET, Activation.POWER_CYCLE})


def plan_updates(bundle: FirmwareBundle, inventory: tuple[FirmwareComponent, ...]) -> FirmwarePlan:
    """Compare by class, never by id alone: ids differ per platform and change with an update.

    A part that reports no version is refused and never flashed: it may be absent, or silent for a moment.
    """
    updates: list[Update] = []
    refusals: list[str] = []
    for wanted in bundle.components:
        parts = matching(wanted, inventory)
        refusals.extend(_refusals(wanted, parts))
        behind = tuple(part for part in parts if not (versions.is_missing(part.version) or _runs(wanted, part)))
        if behind:
            updates.append(_update(wanted, behind))
    return FirmwarePlan(tuple(updates), tuple(refusals))


def unproven(bundle: FirmwareBundle, inventory: tuple[FirmwareComponent, ...]) -> tuple[str, ...]:
    """The component classes that are not seen to run their version in every part, in the order of the bundle.

    Also those with no part in the inventory: what is not seen is not there, as it is while a BMC starts.
    """
    return tuple(
        wanted.component
        for wanted in bundle.components
        if not (parts := matching(wanted, inventory)) or not all(_runs(wanted, part) for part in parts)
    )


def as_complete(
    bundle: FirmwareBundle, inventory: tuple[FirmwareComponent, ...], before: tuple[FirmwareComponent, ...]
) -> bool:
    """Every class has a part, and no fewer than `before`: a BMC that starts shows some of what there is."""
    return all(
        len(matching(wanted, inventory)) >= max(1, len(matching(wanted, before))) for wanted in bundle.components
    )


def matching(wanted: Wanted, inventory: tuple[FirmwareComponent, ...]) -> tuple[FirmwareComponent, ...]:
    """The parts of the inventory that belong to the component class, in the order of the inventory."""
    return tuple(part for part in inventory if any(_fits(part.id, glob) for glob in wanted.inventory))


def _fits(identifier: str, glob: str) -> bool:
    return fnmatchcase(identifier.casefold(), glob.casefold())


def _runs(wanted: Wanted, part: FirmwareComponent) -> bool:
    return versions.equal(part.version, wanted.version, wanted.extract)


def _refusals(wanted: Wanted, parts: tuple[FirmwareComponent, ...]) -> Iterator[str]:
    if not parts:
        yield f"{wanted.component}: no part in the inventory has an id like {' or '.join(wanted.inventory)}"
    for part in parts:
        if versions.is_missing(part.version):
            yield f"{wanted.component}: {part.id} reports no version"
        elif not _runs(wanted, part) and not part.updateable:
            yield f"{wanted.component}: {part.id} runs {part.version} and cannot be updated through this BMC"


def _update(wanted: Wanted, behind: tuple[FirmwareComponent, ...]) -> Update:
    return Update(
        component=wanted.component,
        version=wanted.version,
        file=wanted.artefact.file,
        digest=f"sha256:{wanted.artefact.sha256}",
        targets=tuple(part.uri for part in behind),
        running=tuple(part.version or "" for part in behind),
        activation=wanted.activation,
        expected=timedelta(minutes=float(wanted.expected_minutes)),
    )
