"""What a rollout must keep at every moment, held against the simulated world. The numbers are those of the design.

I1 floor, I3 no mixed release in a domain that serves, I6 forward once, I8 one reset for one attempt, I12 a pause takes
nothing more, I15 one unit at a time in a domain with a cap.
"""

from collections import Counter
from collections.abc import Iterable

from provisioner.errors import FirstlightError
from provisioner.rollout.state import AT_REST, Heading, PausedBy, Rollout, UnitState, WaveState
from provisioner.rollout.unit import Domain, UnitName
from provisioner.simulator.agenda import Agenda

_BY_PEOPLE = frozenset({PausedBy.PERSON, PausedBy.GATE})


class Promises:
    """Raises `FirstlightError` with the seed and the simulated time as soon as one is broken."""

    def __init__(self, seed: int, agenda: Agenda) -> None:
        """`seed`: named with what is found, so that it can be looked at again."""
        self._seed = seed
        self._agenda = agenda
        self._on_new: set[UnitName] = set()
        self._last_wave = -1

    def floor(self, ours: int, allowed: int) -> None:
        """I1. `ours`: nodes that are out because of us, not counting those that were out before."""
        if ours > allowed:
            self._broken("I1 floor", f"{ours} nodes are out of service because of the rollout, {allowed} may be")

    def one_release(self, unit: UnitName, digests: Iterable[str | None]) -> None:
        """I3. `digests`: what the nodes run that take jobs."""
        if len(found := set(digests)) > 1:
            self._broken("I3 one release", f"{unit} takes jobs on {' and '.join(sorted(map(str, found)))}")

    def one_reset(self, effect: str, node: str, resets: int) -> None:
        """I8."""
        if resets > 1:
            self._broken("I8 one reset", f"{node} was reset {resets} times for {effect}")

    def stepped(self, before: Rollout, after: Rollout) -> list[UnitName]:
        """I6, I12, I15 over one step. Returns the units that it has taken in hand."""
        was, now = before.tallies.in_hand, after.tallies.in_hand
        taken = [name for name in now if name not in was]
        if taken:
            self._paused(before, [name for name in taken if after.tasks[name].heading is Heading.TO_NEW])
            self._caps(after)
        for name in was:
            if name not in now:
                self._rested(after, name)
        self._waves(after)
        return taken

    def _paused(self, before: Rollout, taken: list[UnitName]) -> None:
        """What goes back may be taken: it does not leave the old release."""
        decided = any(not one.used for one in before.decisions.values())
        by_gate = before.paused_by is PausedBy.GATE and decided
        if taken and before.paused_by in _BY_PEOPLE and not by_gate:
            self._broken("I12 pause", f"{taken[0]} was taken while the rollout was paused ({before.why})")

    def _caps(self, after: Rollout) -> None:
        plan = after.plan
        busy: Counter[Domain] = Counter()
        for name in after.tallies.in_hand:
            busy.update(plan.units[name].domains)
        for domain, count in busy.items():
            if count > plan.spec.caps.get(domain.kind, count):
                self._broken("I15 caps", f"{count} units are in hand in {domain.kind} {domain.name}")

    def _rested(self, after: Rollout, name: UnitName) -> None:
        task = after.tasks[name]
        if task.state not in AT_REST:
            self._broken("I6 forward once", f"{name} is {task.state} and in nobody's hand")
        if task.state is not UnitState.ON_NEW:
            self._on_new.discard(name)
        elif name in self._on_new and task.origin is not UnitState.ON_NEW:
            self._broken("I6 forward once", f"{name} was brought to the new release twice without going back")
        else:
            self._on_new.add(name)

    def _waves(self, after: Rollout) -> None:
        states = [wave.state is WaveState.PENDING for wave in after.waves]
        last = states.index(True) - 1 if True in states else len(states) - 1
        if states != sorted(states) or last < self._last_wave:
            self._broken("I6 waves in order", f"wave {last} is open after wave {self._last_wave}")
        self._last_wave = last

    def _broken(self, promise: str, text: str) -> None:
        raise FirstlightError(f"seed {self._seed}, {self._agenda} into the run: {promise}: {text}")
