"""One simulated rollout from its start to its end: the world's events, and the product's own steps between them."""

from collections.abc import Sequence
from functools import partial
from random import Random

from provisioner.rollout.people import approve, draft, start
from provisioner.rollout.plan import plan
from provisioner.rollout.unit import Unit
from provisioner.simulator.agenda import Agenda
from provisioner.simulator.controller import Controller
from provisioner.simulator.faults import Faults
from provisioner.simulator.inventory import units_of
from provisioner.simulator.operator import THINKS_SECONDS, answered, is_asked
from provisioner.simulator.recorder import Recorder
from provisioner.simulator.result import Result
from provisioner.simulator.scenario import Inconclusive, Scenario
from provisioner.simulator.world import World

PERIOD_SECONDS = 60.0
"""The controller looks at what is new once in it."""
IDLE_SECONDS = 300.0
"""It looks as often where nothing is new: the time of soaks and deadlines goes on."""


def simulate(scenario: Scenario, units: Sequence[Unit] | None = None) -> Result:
    """Run it to its end. `units`: those of the scenario, where they are made already.

    Raises `BadInput` for a scenario that cannot be, and `FirstlightError` when a promise is broken.
    """
    return _Run(scenario, units_of(scenario) if units is None else units).result()


class _Run:
    def __init__(self, scenario: Scenario, units: Sequence[Unit]) -> None:
        spec = scenario.spec()
        self._scenario = scenario
        self._agenda = Agenda()
        self._world = World(scenario, spec, units, self._agenda)
        rollout = start(approve(draft(plan(spec, units)), "the operator"))
        chance = Random(f"{scenario.seed}/deaths")  # noqa: S311  # a simulation is to be repeated
        self._controller = Controller(rollout, self._world, self._agenda, chance)
        self._recorder = Recorder(self._world)
        self._end = scenario.max_days * 86400
        self._thinks = False
        Faults(scenario, self._world, self._controller, self._agenda)

    def result(self) -> Result:
        self._look()
        looked = 0.0
        while not self._is_over():
            pause = PERIOD_SECONDS if self._world.nodes.has_news else IDLE_SECONDS
            look_at = max(self._agenda.now, looked + pause)
            if self._agenda.next_at <= look_at:
                self._agenda.happen()
            else:
                self._agenda.now = looked = look_at
                self._look()
            self._recorder.note(self._agenda.now, self._controller.kept)
        return self._recorder.result(self._scenario, self._controller, self._agenda.now)

    def _look(self) -> None:
        self._controller.look()
        if self._controller.alive and not self._thinks and is_asked(self._controller.kept):
            self._recorder.asked += 1
            if self._scenario.on_inconclusive is not Inconclusive.WAIT:
                self._thinks = True
                self._agenda.after(THINKS_SECONDS, self._answer)

    def _answer(self) -> None:
        """As often as it takes until somebody answers for the rollout."""
        if not self._controller.alive:
            self._agenda.after(PERIOD_SECONDS, self._answer)
            return
        self._thinks = False
        self._controller.change(partial(answered, policy=self._scenario.on_inconclusive))

    def _is_over(self) -> bool:
        kept = self._controller.kept
        waits = self._scenario.on_inconclusive is Inconclusive.WAIT and is_asked(kept)
        return kept.closed_at is not None or waits or self._agenda.now >= self._end
