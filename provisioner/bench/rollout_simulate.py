"""`firstlight bench rollout`, the part that simulates: a whole run with everything that the world does in between."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from provisioner.bench.process import apart, cores, cost_of
from provisioner.simulator.run import simulate
from provisioner.simulator.scenario import Scenario

RELEASES: Mapping[str, float] = {"good release": 0.0, "15 % defects": 0.15}
"""Share of nodes on which it fails."""


@dataclass(frozen=True, slots=True)
class SimulateFigures:
    """One run, in CPU seconds of one core. `memory_mib`: how far the peak lies above what was there before."""

    release: str
    nodes: int
    outcome: str
    simulated_hours: float
    ran_new: int
    steps: int
    cpu_seconds: float
    memory_mib: float


def measure(nodes: int) -> list[SimulateFigures]:
    """The scenario as it is unless one says otherwise, once with each release; each in a process of its own."""
    return [apart(cores()[-1], _run, release, nodes) for release in RELEASES]


def _run(release: str, nodes: int) -> SimulateFigures:
    scenario = replace(Scenario(nodes=nodes), defect_rate=RELEASES[release])
    result, cost = cost_of(simulate, scenario)
    return SimulateFigures(
        release=release,
        nodes=nodes,
        outcome=result.outcome,
        simulated_hours=round(result.seconds / 3600, 1),
        ran_new=result.ran_new,
        steps=result.steps,
        cpu_seconds=round(cost.cpu_seconds, 2),
        memory_mib=round(cost.memory_mib, 1),
    )
