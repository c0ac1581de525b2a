"""What happens to the site from outside: power, telemetry, clocks, controllers, and people who pause."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from random import Random

from provisioner.rollout.people import pause, resume
from provisioner.rollout.state import Rollout, RolloutState
from provisioner.rollout.unit import Domain, DomainKind, Unit
from provisioner.simulator.agenda import Agenda
from provisioner.simulator.controller import Controller, Death
from provisioner.simulator.scenario import Scenario
from provisioner.simulator.world import World

OUTAGE_MINUTES = (20.0, 120.0)
SILENCE_MINUTES = (5.0, 60.0)
JUMP_HOURS = 6.0
PAUSE_MINUTES = 30.0
_MAY_PAUSE = frozenset({RolloutState.RUNNING, RolloutState.PAUSED})


class Faults:
    """All that a scenario asks for, each at a moment of its own."""

    def __init__(self, scenario: Scenario, world: World, controller: Controller, agenda: Agenda) -> None:
        """Every fault is noted in the agenda."""
        self._world, self._controller, self._agenda = world, controller, agenda
        self._power = _by_domain(world.units.values(), DomainKind.POWER)
        self._leafs = _by_domain(world.units.values(), DomainKind.LEAF)
        self._note(scenario, scenario.power_loss, self._lose_power)
        self._note(scenario, scenario.lost_telemetry, self._lose_telemetry)
        self._note(scenario, scenario.clock_jumps, self._jump)
        self._note(scenario, scenario.controller_kills, self._kill)
        self._note(scenario, scenario.pauses, self._pause)

    def _note(self, scenario: Scenario, count: int, fault: Callable[[Random], None]) -> None:
        chance = Random(f"{scenario.seed}/{fault.__name__}")  # noqa: S311  # a simulation is to be repeated
        for _ in range(count):
            self._agenda.after(chance.uniform(0, scenario.fault_hours * 3600), partial(fault, chance))

    def _lose_power(self, chance: Random) -> None:
        """Where something is in hand, if anything is."""
        units = list(self._controller.kept.tallies.in_hand) or list(self._world.units)
        hit = self._power[_domain(self._world.units[chance.choice(units)], DomainKind.POWER)]
        if all(node in self._world.boots.off for unit in hit for node in unit.nodes):
            return
        self._world.power(hit, on=False)
        self._agenda.after(60 * chance.uniform(*OUTAGE_MINUTES), partial(self._world.power, hit, on=True))

    def _lose_telemetry(self, chance: Random) -> None:
        units = list(self._controller.kept.tallies.in_hand) or list(self._world.units)
        hit = self._leafs[_domain(self._world.units[chance.choice(units)], DomainKind.LEAF)]
        nodes = [node for unit in hit for node in unit.nodes if node not in self._world.nodes.silent]
        self._world.nodes.silence(nodes, silent=True)
        again = partial(self._world.nodes.silence, nodes, silent=False)
        self._agenda.after(60 * chance.uniform(*SILENCE_MINUTES), again)

    def _jump(self, chance: Random) -> None:
        self._controller.skew += timedelta(hours=chance.uniform(-JUMP_HOURS, JUMP_HOURS))

    def _kill(self, chance: Random) -> None:
        self._controller.dies = chance.choice(list(Death))

    def _pause(self, _chance: Random) -> None:
        self._controller.change(_paused)
        self._agenda.after(60 * PAUSE_MINUTES, self._resume)

    def _resume(self) -> None:
        """As often as it takes until somebody answers."""
        if self._controller.alive:
            self._controller.change(_resumed)
        else:
            self._agenda.after(60, self._resume)


def _paused(rollout: Rollout) -> Rollout:
    return pause(rollout, "the operator") if rollout.state in _MAY_PAUSE else rollout


def _resumed(rollout: Rollout) -> Rollout:
    if rollout.state not in _MAY_PAUSE or (rollout.paused_by is not None and rollout.paused_by.value == "gate"):
        return rollout
    return resume(rollout)


def _by_domain(units: Iterable[Unit], kind: DomainKind) -> dict[Domain, list[Unit]]:
    found: dict[Domain, list[Unit]] = defaultdict(list)
    for unit in units:
        found[_domain(unit, kind)].append(unit)
    return found


def _domain(unit: Unit, kind: DomainKind) -> Domain:
    return next(one for one in unit.domains if one.kind is kind)
