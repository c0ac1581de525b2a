"""The arguments of a fault, checked: a fault that would do nothing, or fail later, is refused at once."""

import difflib
import math
from collections.abc import Mapping
from typing import Any

from emulator.faults.fault import Fault


def complete(fault: Fault, given: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of a fault, `given` and the others. Raises ValueError."""
    arguments: dict[str, Any] = {"times": None, **fault.arguments}
    for name, value in given.items():
        if name not in arguments:
            raise ValueError(f"{fault.name}: {unknown('argument', name, list(arguments))}")
        reason = _wrong_times(value) if name == "times" else _wrong(fault, name, value)
        if reason:
            raise ValueError(f"{fault.name}: {name} is {reason}, not {value!r}")
        listed = isinstance(arguments[name], tuple) and isinstance(value, str)
        arguments[name] = (value,) if listed else value
    return arguments


def unknown(kind: str, name: str, known: list[str], remedy: str = "") -> str:
    """What to say of a name that there is not; `remedy`: instead of all that there are."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"unknown {kind} '{name}'; " + (
        f"did you mean '{near[0]}'?" if near else remedy or f"known: {', '.join(known)}"
    )


def _wrong_times(value: object) -> str:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return ""
    return "a whole number from 1, or null for ever"


def _wrong(fault: Fault, name: str, value: object) -> str:
    """What the value should be; empty when it is right."""
    choices = fault.choices.get(name)
    if choices:
        return "" if value in choices else f"one of {', '.join(repr(choice) for choice in choices)}"
    return _wrong_type(fault.arguments[name], value)


def _wrong_type(default: object, value: object) -> str:
    match default:
        case bool():
            return "" if isinstance(value, bool) else "true or false"
        case int():
            return "" if _is_number(value) and value == int(value) else "a number, and a whole one"  # type: ignore[call-overload]  # a number
        case float():
            return "" if _is_number(value) else "a number"
        case tuple():
            texts = isinstance(value, str) or (
                isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
            )
            return "" if texts else "a list of texts"
        case _:
            return "" if isinstance(value, str) else "a text"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
