"""The order of firmware updates: as few activations as can be, and none stronger than needed. Pure."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from profiles.firmware.component import Activation

STRENGTH = {activation: rank for rank, activation in enumerate(Activation)}
"""By what an activation does beyond the ones before it. A BMC reset is a stage of its own and never compared."""


class _Kind(IntEnum):
    """What a stage ends with: nothing, a reset of the BMC, or one of the host or more."""

    NOTHING = 0
    BMC = 1
    HOST = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to flash: what makes it run, and the steps (by their place in the sequence) that have to run before."""

    activation: Activation
    after: frozenset[int] = frozenset()


def in_stages(steps: Sequence[Step]) -> list[list[int]]:
    """The places of the steps, stage by stage, in their order within each.

    As few activations as possible, then as few stages, then whatever is listed first goes first. Then no stage has a
    stronger activation than what cannot wait for a later stage: so one power cut serves all that need one, if it can.
    Raises `ValueError` when steps wait for each other.
    """
    kinds = _kinds(steps)
    last = _latest(steps, kinds)
    stages: list[list[int]] = []
    done = 0
    for place, kind in enumerate(kinds):
        ready = _ready(steps, done, kind)
        strongest = max((STRENGTH[steps[one].activation] for one in ready if last[one] == place), default=0)
        stage = [one for one in ready if kind is _Kind.BMC or STRENGTH[steps[one].activation] <= strongest]
        stages.append(stage)
        done |= _mask(stage)
    return stages


def strongest(activations: Sequence[Activation]) -> Activation:
    """The one that does what all of them do."""
    return max(activations, key=STRENGTH.__getitem__)


def _kinds(steps: Sequence[Step]) -> list[_Kind]:
    """What each stage ends with: the best sequence, by trying every one. More steps done is never worse."""
    whole = (1 << len(steps)) - 1
    queue: list[tuple[int, int, list[int], int, list[_Kind]]] = [(0, 0, [], 0, [])]
    seen: set[int] = set()
    while queue:
        activations, stages, listed, done, kinds = heapq.heappop(queue)
        if done == whole:
            return kinds
        if done in seen:
            continue
        seen.add(done)
        for kind in _Kind:
            ready = _ready(steps, done, kind)
            if ready:
                cost = activations + (kind is not _Kind.NOTHING)
                now = done | _mask(ready)
                heapq.heappush(queue, (cost, stages + 1, [*listed, ready[0]], now, [*kinds, kind]))
    raise ValueError("steps wait for each other")


def _ready(steps: Sequence[Step], done: int, kind: _Kind) -> list[int]:
    """What may be flashed now and runs after such a stage."""
    return [
        place
        for place, step in enumerate(steps)
        if not done >> place & 1 and _fits(step, kind) and all(done >> before & 1 for before in step.after)
    ]


def _fits(step: Step, kind: _Kind) -> bool:
    if kind is _Kind.HOST:
        return step.activation is not Activation.BMC_RESET
    return step.activation is (Activation.BMC_RESET if kind is _Kind.BMC else Activation.NONE)


def _latest(steps: Sequence[Step], kinds: Sequence[_Kind]) -> list[int]:
    """The last stage in which each step can be without holding up another one."""
    followers: list[list[int]] = [[] for _ in steps]
    for place, step in enumerate(steps):
        for before in step.after:
            followers[before].append(place)
    last = [-1] * len(steps)

    def of(place: int) -> int:
        if last[place] < 0:
            bound = min((of(one) for one in followers[place]), default=len(kinds))
            last[place] = max(stage for stage in range(bound) if _fits(steps[place], kinds[stage]))
        return last[place]

    return [of(place) for place in range(len(steps))]


def _mask(places: Sequence[int]) -> int:
    return sum(1 << place for place in places)
