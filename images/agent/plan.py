"""What the service wants checked."""

import math
from typing import Any, NamedTuple


class Item(NamedTuple):
    """One check to run."""

    id: str
    kind: str
    parameters: dict[str, float]
    deadline_seconds: float


class Plan(NamedTuple):
    """What is left of one attempt of a run, in order."""

    run: str
    attempt: int
    items: tuple[Item, ...]


NOTHING = Plan("", 0, ())


class PlanError(Exception):
    """The plan is not in the agreed form."""


def parse_plan(document: Any) -> Plan:
    """Return the plan; raise PlanError, also for values that a check could not work with."""
    try:
        plan = Plan(document["run"], document["attempt"], tuple(map(_item, document["items"])))
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise PlanError(f"{type(error).__name__}: {error}") from error
    if not isinstance(plan.run, str) or type(plan.attempt) is not int:
        raise PlanError("run is not text or attempt is not a whole number")
    return plan


def _item(document: Any) -> Item:
    item = Item(
        id=document["id"],
        kind=document["kind"],
        parameters={str(name): float(value) for name, value in document["parameters"].items()},
        deadline_seconds=float(document["deadline_seconds"]),
    )
    numbers = (*item.parameters.values(), item.deadline_seconds)
    if not isinstance(item.id, str) or not isinstance(item.kind, str) or not all(map(math.isfinite, numbers)):
        raise ValueError(f"item {item.id!r} has a wrong id, kind or number")
    return item
