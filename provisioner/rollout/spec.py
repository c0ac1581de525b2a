"""What a person asks for: where to, how fast, and what must never happen meanwhile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from provisioner.models.identifiers import ReleaseDigest
from provisioner.rollout.intent import Action
from provisioner.rollout.unit import DomainKind
from provisioner.rollout.windows import Window

_USUAL = {
    Action.RESERVE: timedelta(minutes=2),
    Action.CORDON: timedelta(minutes=2),
    Action.STAGE_FIRMWARE: timedelta(minutes=30),
    Action.APPLY_FIRMWARE: timedelta(minutes=60),
    Action.FLIP: timedelta(minutes=2),
    Action.REBOOT: timedelta(minutes=20),
    Action.OBSERVE: timedelta(minutes=5),
    Action.CHECK: timedelta(minutes=15),
    Action.BURN_IN: timedelta(minutes=120),
    Action.LABEL: timedelta(minutes=2),
    Action.UNCORDON: timedelta(minutes=2),
}
_FORTH = (Action.RESERVE, Action.CORDON, Action.FLIP, Action.REBOOT, Action.OBSERVE, Action.CHECK, Action.LABEL)
_BACK = (Action.FLIP, Action.REBOOT, Action.CHECK, Action.LABEL, Action.UNCORDON)


@dataclass(frozen=True, slots=True)
class Floor:
    """What stays in service of each hardware class: a count of nodes, or percent of them. One of the two."""

    count: int | None = None
    percent: int | None = None

    def may_be_out(self, total: int) -> int:
        """How many of `total` nodes may be out of service, for whatever cause. Percent rounds down; never below 0."""
        if self.count is not None:
            return max(0, total - self.count)
        return total * (100 - (self.percent or 0)) // 100


@dataclass(frozen=True, slots=True)
class Soak:
    """How long a wave is watched before it is judged: both."""

    time: timedelta = timedelta(hours=1)
    node_hours: float = 0.0


class ReturnScope(StrEnum):
    """What goes back when a wave fails."""

    WAVE = "wave"
    ALL = "all"


class Metric(StrEnum):
    """What is measured on a node and compared with its control group."""

    BOOT_SECONDS = "boot_seconds"
    """Higher is worse."""
    BANDWIDTH = "bandwidth"
    """Lower is worse."""


def default_caps() -> Mapping[DomainKind, int]:
    """One unit at a time of what fails as a whole."""
    return {DomainKind.LEAF: 1, DomainKind.POWER: 1}


@dataclass(frozen=True, slots=True)
class Spec:
    """One rollout as it was asked for. `name` is its own for ever, and owns its cordons and leases."""

    name: str
    pool: str
    from_release: ReleaseDigest
    to_release: ReleaseDigest
    floor: Floor
    to_firmware: str | None = None
    """The firmware bundle of the new release; None where it brings none."""
    firmware_by_reboot: bool = False
    """The way of a node to the release brings its firmware too: it is no step of its own."""
    windows: tuple[Window, ...] = ()
    soak: Soak = field(default_factory=Soak)
    canaries_per_kind: int = 1
    """Coverage: units of each hardware class and firmware baseline in the first wave."""
    caps: Mapping[DomainKind, int] = field(default_factory=default_caps)
    """Units in hand at once in one domain of a kind."""
    drain_deadline: timedelta = timedelta(minutes=30)
    deadlines: Mapping[Action, timedelta] = field(default_factory=dict)
    """Of one try, where it is not the usual."""
    tries: int = 3
    """Of each step: the first and two more."""
    burn_in: bool = False
    may_run_short: int = 0
    """Nodes that a unit may lose to quarantine and still go on."""
    auto_return: bool = True
    return_scope: ReturnScope = ReturnScope.WAVE
    retention: timedelta = timedelta(days=7)
    """How long the old release stays pinned after the end."""
    irreversible: bool = False
    """Its firmware cannot go back: smaller waves, twice the soak, and an approval of its own."""
    old_image_on_new_firmware: bool = True
    """The old image runs on the new firmware, so that at least the image may go back."""
    silence: timedelta = timedelta(minutes=10)
    """Longer without a word from a node on the new release is a stop."""
    metrics: tuple[Metric, ...] = ()
    control_required: bool = True
    longest_tick: timedelta = timedelta(minutes=5)
    """What one step may count at most, whatever the clock says."""
    seed: int = 0

    @property
    def stages_firmware(self) -> bool:
        """Firmware is staged and applied before the image is flipped."""
        return self.to_firmware is not None and not self.firmware_by_reboot

    def deadline(self, action: Action) -> timedelta:
        """How long one try of it may take."""
        if action is Action.DRAIN:
            return self.drain_deadline
        return self.deadlines[action] if action in self.deadlines else _USUAL[action]

    def worst_case(self, *, drained: bool = False) -> timedelta:
        """What a unit takes at most when every try of every step fails but the last, and it returns then.

        `drained`: what is left of it from there.
        """
        forth = [*_FORTH, *([Action.STAGE_FIRMWARE, Action.APPLY_FIRMWARE] if self.stages_firmware else ())]
        forth += [Action.BURN_IN] if self.burn_in else []
        left = [one for one in (*forth, *_BACK) if not drained or one not in {Action.RESERVE, Action.CORDON}]
        tries = sum((self.deadline(one) for one in left), timedelta(0)) * self.tries
        return tries if drained else tries + self.drain_deadline
