"""What the service wants checked."""

import math
from dataclasses import dataclass
from typing import Any

from emulator.stand_in.checks import Item


@dataclass(frozen=True, slots=True)
class Plan:
    """What is left of one attempt of a run, in order; without items where that is nothing."""

    run: str = ""
    attempt: int = 0
    items: tuple[Item, ...] = ()


def read_plan(document: Any) -> Plan:
    """The plan; an empty one when it is not in the agreed form, as the next one may be."""
    try:
        plan = Plan(str(document["run"]), int(document["attempt"]), tuple(map(_item, document["items"])))
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
        return Plan()
    return plan


def _item(document: Any) -> Item:
    parameters = {str(name): float(value) for name, value in document["parameters"].items()}
    deadline = float(document["deadline_seconds"])
    if not all(map(math.isfinite, (*parameters.values(), deadline))):
        raise ValueError("a number is not finite")
    return Item(str(document["id"]), str(document["kind"]), parameters, deadline)
