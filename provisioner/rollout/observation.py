"""What was seen of nodes. Nothing else moves a rollout: a unit is where it was observed to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.rollout.intent import Action


@dataclass(frozen=True, slots=True)
class Failure:
    """An action that ended badly on one node, by itself. An older attempt's or generation's says nothing of a newer."""

    action: Action
    attempt: int
    generation: int
    why: str


@dataclass(frozen=True, slots=True)
class Facts:
    """One node as last seen. Whoever reads them reads the cordons before the jobs: no job may slip in between."""

    digest: ReleaseDigest | None
    """What it reports to run; None where it has not said."""
    active: ReleaseDigest | None
    """What its active slot names."""
    boot_id: str
    firmware: str
    staged_firmware: str = ""
    label: ReleaseDigest | None = None
    """The release that the scheduler has been told."""
    healthy: bool = True
    managed: bool = True
    """Its BMC answers."""
    cordons: frozenset[str] = frozenset()
    """Who has cordoned it; ours is the rollout's name."""
    holder: str | None = None
    """Who has its lease."""
    jobs: int = 0
    checked: str = ""
    """The boot id under which its check passed."""
    burned_in: str = ""
    """The boot id under which its burn-in passed."""
    failure: Failure | None = None
    image_refused: str = ""
    """Why it refused its image (signature, verity), if it did."""
    fatal: str = ""
    """Class of a fatal GPU error that it shows, if any."""
    boot_seconds: float | None = None
    bandwidth: float | None = None
    """NCCL bus bandwidth, GB/s."""

    @property
    def available(self) -> bool:
        """Jobs may run on it."""
        return self.healthy and self.managed and not self.cordons


@dataclass(frozen=True, slots=True)
class Observations:
    """What came in since the last step."""

    changed: Mapping[NodeName, Facts] = field(default_factory=dict)
    heard: frozenset[NodeName] = frozenset()
    """Nodes that reported, changed or not. One that changed was heard."""
    removed: frozenset[NodeName] = frozenset()
    """Nodes that are no longer there at all."""
    budgets_spent: frozenset[str] = frozenset()
    """Services (scheduler, boot) whose error budget is spent."""
