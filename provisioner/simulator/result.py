"""What came of one run, and of many. Times are in seconds from the start, shares from 0 to 1."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended."""

    COMPLETE = "complete"
    RETURNED = "returned"
    NEEDS_HUMAN = "needs_human"
    """Returned, but for units on which neither release works."""
    WAITING = "waiting"
    """For a person who decides about a gate."""
    UNFINISHED = "unfinished"
    """Given up after the longest time."""


STOPPED = frozenset({Outcome.RETURNED, Outcome.NEEDS_HUMAN, Outcome.WAITING})
"""The release did not get through."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Nodes at one moment; it lasts until the next."""

    at: float
    serving: int
    serving_new: int
    returning: bool


@dataclass(frozen=True, slots=True)
class WaveResult:
    """One wave that was opened."""

    number: int
    units: int
    opened: float
    closed: float | None
    """None where it was not: it failed, or was not reached to the end."""
    verdict: str
    failed_units: int


@dataclass(frozen=True, slots=True)
class Result:
    """One run."""

    seed: int
    outcome: Outcome
    why: str
    nodes: int
    floor: int
    """Nodes that must serve."""
    seconds: float
    lowest_serving: int
    gpu_hours_lost: float
    ran_new: int
    """Nodes that ran the new release, however short."""
    on_old: int
    on_new: int
    """Nodes at the end, those in quarantine among them."""
    quarantined: int
    units_taken: int
    first_defect: float | None
    """When a node first failed that the new release is to blame for."""
    stopped: float | None
    """When the rollout was stopped by a gate."""
    returned: float | None
    """When everything had gone back."""
    asked: int
    """How often a person had to decide."""
    drains: int
    drains_given_up: int
    drain_p50: float
    drain_p99: float
    resets: int
    most_resets: int
    """Of one node over the whole run; of one attempt never more than one."""
    takeovers: int
    refused: int
    """Intents of controllers that were over."""
    steps: int
    waves: tuple[WaveResult, ...]
    curve: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Many runs that differ in their seed. `defective`: the release was to be stopped."""

    runs: int
    defective: bool
    outcomes: dict[Outcome, int]
    wrong: int
    """Of a good release: stopped (false aborts). Of a defective one: let through (misses)."""
    wrong_seeds: tuple[int, ...]
    asked: int
    """Runs in which a person had to decide."""
    lowest_share: float
    ran_new_p50: float
    ran_new_most: int
    seconds_p50: float
    seconds_p99: float
    to_stop_p50: float | None
    """From the first defect to the stop, where there were both."""
    to_returned_p50: float | None
    """From the first defect until everything had gone back."""
