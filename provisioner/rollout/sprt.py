"""Wald's sequential probability ratio test on nodes that failed: it may be looked at after every node.

Abraham Wald, Sequential Tests of Statistical Hypotheses (1945): bounds ln(beta / (1 - alpha)) and
ln((1 - beta) / alpha).
"""

from enum import StrEnum
from math import log

from provisioner.rollout.state import Trials

GOOD = 0.01
"""Share of nodes that fail with a release that is as it should be, where the control group shows no more."""
WORSE_BY = 0.04
"""More than that on top is a defect."""
FALSE_ALARM = 0.001
MISS = 0.05


class Evidence(StrEnum):
    """What the trials say so far."""

    DEFECT = "defect"
    GOOD = "good"
    OPEN_TO_GOOD = "open_to_good"
    """Not settled; more likely good than not."""
    OPEN_TO_DEFECT = "open_to_defect"


def weigh(green: Trials, control: Trials) -> Evidence:
    """Judge the new release by its trials, against what fails at the same time without it."""
    good = base_rate(control)
    ratio = log_ratio(green, good, good + WORSE_BY)
    if ratio >= log((1 - MISS) / FALSE_ALARM):
        return Evidence.DEFECT
    if ratio <= log(MISS / (1 - FALSE_ALARM)):
        return Evidence.GOOD
    return Evidence.OPEN_TO_DEFECT if ratio > 0 else Evidence.OPEN_TO_GOOD


def base_rate(control: Trials) -> float:
    """The share of failing nodes that counts as good: at least `GOOD`, and at most a half."""
    return min(0.5, max(GOOD, control.failed / control.nodes)) if control.nodes > 0 else GOOD


def log_ratio(trials: Trials, good: float, defect: float) -> float:
    """ln(P(trials | defect) / P(trials | good))."""
    whole = trials.nodes - trials.failed
    return trials.failed * log(defect / good) + whole * log((1 - defect) / (1 - good))
