"""Chance, drawn for each unit by itself: what happens to one changes nothing for another, whenever it happens."""

from dataclasses import dataclass, field
from functools import cached_property
from math import log
from random import Random

from provisioner.models.identifiers import NodeName
from provisioner.rollout.unit import Unit
from provisioner.simulator.scenario import Scenario

BOOT_MINUTES = 5.0
BOOT_SIGMA = 0.25
CHECK_SECONDS = (120.0, 300.0)
CHECKPOINT_SECONDS = 600.0
JOB_SIGMA = 1.6
"""Of the logarithm: with a median of four hours one job in a hundred runs for a week."""
LATE_HOURS = 1.0
_GRAIN = 60.0
"""Seconds. Nodes of one unit that come up within it are seen together."""


@dataclass
class Luck:
    """Of one unit. The same seed and the same order of questions give the same answers."""

    scenario: Scenario
    unit: Unit
    job_ends: float | None = field(default=None, init=False)

    @cached_property
    def _random(self) -> Random:
        return Random(f"{self.scenario.seed}/{self.unit.name}")  # noqa: S311  # a simulation is to be repeated

    @cached_property
    def defective(self) -> frozenset[NodeName]:
        """Nodes on which the new release fails its check."""
        return self._some(self.scenario.defect_rate)

    @cached_property
    def late(self) -> frozenset[NodeName]:
        """Nodes on which it fails later."""
        return self._some(self.scenario.late_defects)

    def _some(self, share: float) -> frozenset[NodeName]:
        random = Random(f"{self.scenario.seed}/{self.unit.name}/{share}")  # noqa: S311  # as above
        return frozenset(node for node in self.unit.nodes if random.random() < share) if share else frozenset()

    def boot(self) -> float | None:
        """Seconds until a node that was reset comes up; None where it does not."""
        fails = self._random.random() < self.scenario.boot_failure
        seconds = self._random.lognormvariate(log(BOOT_MINUTES * 60), BOOT_SIGMA)
        return None if fails else (seconds // _GRAIN + 1) * _GRAIN

    def breaks(self) -> bool:
        """Whether the node is broken after this boot."""
        return self._random.random() < self.scenario.base_failure

    def is_stale(self) -> bool:
        """Whether the node names the release before, after this boot."""
        return bool(self.scenario.stale_digests) and self._random.random() < self.scenario.stale_digests

    def check_seconds(self) -> float:
        """How long the check of the whole unit takes."""
        return self._random.uniform(*CHECK_SECONDS)

    def late_seconds(self) -> float:
        """How long a node with a late defect serves."""
        return self._random.expovariate(1 / (LATE_HOURS * 3600))

    def drain_seconds(self, now: float) -> float:
        """How long the jobs of the unit still run when they are asked to end at second `now`."""
        scenario = self.scenario
        if not scenario.job_hours or self._checkpoints:
            return self._random.uniform(0, CHECKPOINT_SECONDS)
        if self.job_ends is None:
            # Of jobs that run at one moment long ones are more; any point of such a job is as likely as another.
            self.job_ends = now + self._random.random() * self._job_seconds(JOB_SIGMA**2)
        while self.job_ends < now:
            self.job_ends += self._job_seconds()
        return self.job_ends - now

    @cached_property
    def _checkpoints(self) -> bool:
        return self._random.random() < self.scenario.checkpointing

    def _job_seconds(self, longer: float = 0.0) -> float:
        return self._random.lognormvariate(log(self.scenario.job_hours * 3600) + longer, JOB_SIGMA)
