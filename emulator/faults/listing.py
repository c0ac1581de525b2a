"""The faults as a person or a program reads them."""

from collections.abc import Iterable, Iterator
from typing import Any

from emulator.faults.catalog import CONCERNS
from emulator.faults.fault import Fault
from emulator.faults.inventory import FLEET_FAULTS

_HEAD = "Every fault takes `times`: how often it happens before it heals; without it, for ever."
_OF_FLEETS = "Fleets, by `--fault-rate` and `fault_rates` only"


def by_concern() -> Iterator[tuple[str, Fault]]:
    """Every fault with its concern, concern by concern."""
    for concern, faults in (*CONCERNS.items(), (_OF_FLEETS, FLEET_FAULTS)):
        yield from ((concern, fault) for fault in faults)


def described(concern: str, fault: Fault) -> dict[str, Any]:
    """A fault for programs."""
    return {
        "name": fault.name,
        "concern": concern,
        "effect": fault.effect,
        "source": fault.source,
        "arguments": {"times": None, **fault.arguments},
        "choices": fault.choices,
    }


def lines(listed: Iterable[tuple[str, Fault]]) -> Iterator[str]:
    """The listing for people."""
    yield _HEAD
    last = ""
    for concern, fault in listed:
        if concern != last:
            yield f"\n{concern}\n{'=' * len(concern)}"
            last = concern
        yield f"\n{fault.name}\n    {fault.effect}"
        if fault.arguments:
            yield f"    arguments: {', '.join(_argument(fault, name) for name in fault.arguments)}"
        yield f"    seen in:   {fault.source}"


def _argument(fault: Fault, name: str) -> str:
    default = fault.arguments[name]
    others = [str(choice) or "''" for choice in fault.choices.get(name, ()) if choice != default]
    shown = list(default) if isinstance(default, tuple) else default
    return f"{name}={shown!r}" + (f" (or {', '.join(others)})" if others else "")
