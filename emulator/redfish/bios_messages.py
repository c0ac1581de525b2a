"""How a refused BIOS attribute is answered (DSP0268, Base message registry)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from emulator.persona.bios_rules import Problem
from emulator.redfish.errors import (
    RedfishError,
    message,
    not_in_list,
    not_writable,
    unknown_property,
    wrong_type,
)


def refusal(problems: Sequence[Problem], *, misnames: bool = False) -> RedfishError:
    """400 with a message for each problem. `misnames`: an unknown attribute is called a value that is not in a list."""
    error = _error(problems[0], misnames)
    error.extended = [explained(problem, misnames=misnames) for problem in problems]
    return error


def explained(problem: Problem, *, misnames: bool = False) -> dict[str, Any]:
    """The message for one problem, with the property that it is about."""
    error = _error(problem, misnames)
    said = message(error.message_id, error.text, *error.arguments, severity="Warning")
    return {**said, "RelatedProperties": [f"#/Attributes/{problem.name}"]}


def not_applied(name: str) -> dict[str, Any]:
    """What Settings.Messages says of an attribute that a boot refused."""
    text = f"The attribute {name} could not be applied."
    said = message("PropertyValueConflict", text, name, severity="Warning")
    return {**said, "RelatedProperties": [f"#/Attributes/{name}"]}


def _error(problem: Problem, misnames: bool) -> RedfishError:  # noqa: FBT001  (both callers have it as a keyword)
    if problem.trouble == "unknown" and misnames:
        return not_in_list(problem.name, "Attributes")
    return _ERRORS[problem.trouble](problem)


def _out_of_range(problem: Problem) -> RedfishError:
    text = f"The value '{problem.value}' for the property {problem.name} is not in the supported range."
    return RedfishError(400, "PropertyValueOutOfRange", text, str(problem.value), problem.name)


def _malformed(problem: Problem) -> RedfishError:
    text = f"The value for the property {problem.name} is of a different format than the property can accept."
    return RedfishError(400, "PropertyValueFormatError", text, str(problem.value), problem.name)


_ERRORS: Mapping[str, Callable[[Problem], RedfishError]] = {
    "unknown": lambda problem: unknown_property(problem.name),
    "read-only": lambda problem: not_writable(problem.name),
    "type": lambda problem: wrong_type(problem.value, problem.name),
    "list": lambda problem: not_in_list(problem.value, problem.name),
    "range": _out_of_range,
    "format": _malformed,
}
