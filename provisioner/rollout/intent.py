"""What the core asks for. The caller keeps intents together with the state, and only then acts."""

from dataclasses import dataclass
from enum import StrEnum

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.rollout.unit import UnitName


class Action(StrEnum):
    """One thing to do to all nodes of a unit. Each reads the world first and acts only where needed."""

    RESERVE = "reserve"
    """Take the lease of each node, where nobody else has it."""
    CORDON = "cordon"
    """Ours beside anybody else's."""
    DRAIN = "drain"
    STAGE_FIRMWARE = "stage_firmware"
    APPLY_FIRMWARE = "apply_firmware"
    FLIP = "flip"
    """Point the active slot at `release`, by compare-and-swap."""
    REBOOT = "reboot"
    """Only nodes that still have the boot id of `boot_ids`."""
    OBSERVE = "observe"
    """Ask the node what it runs."""
    CHECK = "check"
    BURN_IN = "burn_in"
    LABEL = "label"
    """Tell the scheduler the release, so that no job is placed over two (before the uncordon)."""
    UNCORDON = "uncordon"
    """Take our cordon away, nobody else's; then give the lease back."""
    QUARANTINE = "quarantine"
    """Leave the nodes up and cordoned, for a person to look at; reboot them no more."""
    FORGET = "forget"
    """The nodes are gone: free whatever is still kept for them."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One action on one unit. Doing it twice is as doing it once; a lower epoch than the highest seen is refused."""

    rollout: str
    unit: UnitName
    action: Action
    attempt: int
    generation: int
    """Of the unit: grows with each start and each change of direction."""
    epoch: int
    nodes: tuple[NodeName, ...]
    release: ReleaseDigest
    """What it is about: the new one on the way forth, the old one on the way back."""
    firmware: str = ""
    boot_ids: tuple[str, ...] = ()
    """For a reboot: as `nodes`, what each had when the reboot was decided."""

    @property
    def key(self) -> str:
        """The same key is the same intent, however often it is sent."""
        return f"{self.effect}/e{self.epoch}"

    @property
    def effect(self) -> str:
        """The same effect asked for by whichever controller: done once."""
        return f"{self.rollout}/{self.unit}/{self.action}/g{self.generation}/a{self.attempt}"
