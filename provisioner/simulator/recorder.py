"""Notes what is measured while a run goes on, and sums it up."""

from collections.abc import Sequence
from math import ceil

from provisioner.rollout.state import Rollout, RolloutState, UnitState, Verdict, WaveState
from provisioner.simulator.controller import Controller
from provisioner.simulator.result import Moment, Outcome, Result, WaveResult
from provisioner.simulator.scenario import OLD, Scenario
from provisioner.simulator.world import World

_OUTCOMES = {
    RolloutState.COMPLETE: Outcome.COMPLETE,
    RolloutState.RETURNED: Outcome.RETURNED,
    RolloutState.NEEDS_HUMAN: Outcome.NEEDS_HUMAN,
}


class Recorder:
    """Asked after every event; most of them change nothing."""

    def __init__(self, world: World) -> None:
        """At second 0, when all serve."""
        self._world = world
        self._moments = [Moment(0.0, world.nodes.serving, 0, returning=False)]
        self._opened: dict[int, float] = {}
        self._closed: dict[int, float] = {}
        self._stopped: float | None = None
        self.asked = 0

    def note(self, at: float, rollout: Rollout) -> None:
        """What is different from the moment before."""
        nodes, last = self._world.nodes, self._moments[-1]
        returning = rollout.state is RolloutState.RETURNING
        if (nodes.serving, nodes.serving_new, returning) != (last.serving, last.serving_new, last.returning):
            moment = Moment(at, nodes.serving, nodes.serving_new, returning)
            self._moments[-1 if last.at == at and len(self._moments) > 1 else len(self._moments) :] = [moment]
        for wave in rollout.waves:
            if wave.state is not WaveState.PENDING:
                self._opened.setdefault(wave.number, at)
            if wave.state is WaveState.CLOSED:
                self._closed.setdefault(wave.number, at)
            if wave.verdict is Verdict.FAIL and self._stopped is None:
                self._stopped = at
        if self._stopped is None and returning:
            self._stopped = at

    def result(self, scenario: Scenario, controller: Controller, at: float) -> Result:
        """What came of it all, at the end."""
        rollout, world = controller.kept, self._world
        outcome = _outcome(rollout)
        digests = [facts.digest for facts in world.nodes.facts.values()]
        waits = sorted(drain.seconds for drain in world.drains)
        resets = world.boots.resets
        return Result(
            seed=scenario.seed,
            outcome=outcome,
            why=_why(rollout, outcome),
            nodes=len(digests),
            floor=len(digests) - world.allowed_out,
            seconds=at,
            lowest_serving=min(moment.serving for moment in self._moments),
            gpu_hours_lost=self._node_seconds_lost(at) / 3600 * scenario.gpus_per_node,
            ran_new=len(world.boots.ran_new),
            on_old=digests.count(OLD),
            on_new=len(digests) - digests.count(OLD),
            quarantined=_quarantined(rollout),
            units_taken=len(rollout.tasks),
            first_defect=world.first_defect,
            stopped=self._stopped,
            returned=at if outcome in {Outcome.RETURNED, Outcome.NEEDS_HUMAN} else None,
            asked=self.asked,
            drains=sum(drain.ended for drain in world.drains),
            drains_given_up=sum(not drain.ended for drain in world.drains),
            drain_p50=quantile(waits, 0.5) or 0.0,
            drain_p99=quantile(waits, 0.99) or 0.0,
            resets=sum(resets.values()),
            most_resets=max(resets.values(), default=0),
            takeovers=controller.takeovers,
            refused=world.refused,
            steps=controller.steps,
            waves=tuple(self._waves(rollout)),
            curve=tuple(self._moments),
        )

    def _waves(self, rollout: Rollout) -> list[WaveResult]:
        return [
            WaveResult(
                number=number,
                units=len(rollout.plan.waves[number]),
                opened=opened,
                closed=self._closed.get(number),
                verdict=rollout.waves[number].verdict or "",
                failed_units=rollout.waves[number].failed_units,
            )
            for number, opened in self._opened.items()
        ]

    def _node_seconds_lost(self, end: float) -> float:
        total = len(self._world.nodes.facts)
        ends = [*(moment.at for moment in self._moments[1:]), end]
        return sum((total - one.serving) * (until - one.at) for one, until in zip(self._moments, ends, strict=True))


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of them does not exceed; None of nothing."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def _outcome(rollout: Rollout) -> Outcome:
    if rollout.state in _OUTCOMES:
        return _OUTCOMES[rollout.state]
    wave = rollout.open_wave
    judged = rollout.state is RolloutState.PAUSED and wave is not None and wave.state is WaveState.JUDGED
    held_up = rollout.state is RolloutState.RETURNING and rollout.paused_by is not None
    return Outcome.WAITING if judged or held_up else Outcome.UNFINISHED


def _why(rollout: Rollout, outcome: Outcome) -> str:
    """A rollout that hangs may not say on what."""
    waiting, in_hand = len(rollout.tallies.pending), len(rollout.tallies.in_hand)
    if outcome is not Outcome.UNFINISHED:
        return rollout.why
    return f"{rollout.why}; it is {rollout.state}, with {in_hand} units in hand, and {waiting} still to be taken"


def _quarantined(rollout: Rollout) -> int:
    whole = sum(
        len(rollout.plan.units[task.unit].nodes)
        for task in rollout.tasks.values()
        if task.state is UnitState.QUARANTINED
    )
    return whole + sum(len(one.quarantined) for one in rollout.tasks.values() if one.state is not UnitState.QUARANTINED)
