"""What an attribute registry allows: dependencies evaluated to a fixed point, and the judgement of a change.

DSP0268, AttributeRegistry: a dependency of type Map gives a property of an attribute a value while its conditions hold.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from emulator.persona.bios import LIMITS, LOCKS, Attribute, Bios, BiosAttribute, Condition, Dependency

_MOST_ROUNDS = 20  # dependencies that chase each other end here

Values = Mapping[str, Attribute | None]
Trouble = Literal["unknown", "read-only", "type", "list", "range", "format"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an attribute may not have a value."""

    name: str
    value: Any
    trouble: Trouble


@dataclass(frozen=True, slots=True)
class Resolved:
    """`values` with what dependencies force upon them; `properties` that they give to attributes, by name."""

    values: dict[str, Attribute | None]
    properties: dict[str, dict[str, Any]]


def resolve(bios: Bios, values: Values) -> Resolved:
    """Apply all dependencies until nothing changes."""
    result = Resolved(dict(values), {})
    for _ in range(_MOST_ROUNDS):
        following = _round(bios, values, result)
        if following == result:
            break
        result = following
    return result


def problems(bios: Bios, values: Values, wanted: Mapping[str, Any]) -> list[Problem]:
    """What speaks against `wanted` on top of `values`, judged by the state that would follow; in order, one each."""
    desired = resolve(bios, {**values, **wanted})
    found = []
    for name, value in wanted.items():
        attribute = bios.attributes.get(name)
        trouble = _trouble(attribute, desired.properties.get(name, {}), value) if attribute else "unknown"
        if trouble:
            found.append(Problem(name, value, trouble))
    return found


def _round(bios: Bios, values: Values, before: Resolved) -> Resolved:
    after = Resolved(dict(values), {})
    for dependency in bios.dependencies:
        if not _holds(bios, dependency, before):
            continue
        if dependency.property == "CurrentValue":
            after.values[dependency.attribute] = dependency.value
        else:
            after.properties.setdefault(dependency.attribute, {})[dependency.property] = dependency.value
    return after


def _holds(bios: Bios, dependency: Dependency, state: Resolved) -> bool:
    """The conditions, joined from left to right; a term stands on the later of two, or on the earlier one."""
    met = [_meets(_found(bios, condition, state), condition) for condition in dependency.when]
    terms = [condition.terms for condition in dependency.when]
    joining = terms[:-1] if terms[:1] != [None] else terms[1:]
    result = bool(met) and met[0]
    for one, term in zip(met[1:], joining, strict=True):
        result = (result or one) if (term or bios.missing_terms) == "OR" else (result and one)
    return result


def _found(bios: Bios, condition: Condition, state: Resolved) -> Any:
    if condition.property == "CurrentValue":
        return state.values.get(condition.attribute)
    given = state.properties.get(condition.attribute, {})
    attribute = bios.attributes.get(condition.attribute)
    own = getattr(attribute, _FIELDS.get(condition.property, ""), None)
    return given.get(condition.property, own)


def _meets(found: Any, condition: Condition) -> bool:
    wanted = condition.value
    if condition.condition in ("EQU", "NEQ"):
        return bool(found == wanted) == (condition.condition == "EQU")
    if not isinstance(found, int) or not isinstance(wanted, int):
        return False
    return {"GTR": found > wanted, "GEQ": found >= wanted, "LSS": found < wanted, "LEQ": found <= wanted}[
        condition.condition
    ]


_FIELDS = {"DefaultValue": "value", **LOCKS, **LIMITS}
_TYPES: Mapping[str, type] = {"Enumeration": str, "String": str, "Password": str, "Integer": int, "Boolean": bool}


def _trouble(attribute: BiosAttribute, given: Mapping[str, Any], value: Any) -> Trouble | None:
    limits = {name: given.get(name, getattr(attribute, field)) for name, field in _FIELDS.items()}
    if any(limits[lock] for lock in LOCKS):
        return "read-only"
    if not isinstance(value, _TYPES[attribute.type]) or (attribute.type == "Integer" and isinstance(value, bool)):
        return "type"
    if attribute.type == "Enumeration":
        return "list" if attribute.allowed and value not in attribute.allowed else None
    if isinstance(value, str):
        return None if _well_formed(value, limits) else "format"
    return "range" if attribute.type == "Integer" and not _in_bounds(value, limits) else None


def _in_bounds(value: Any, limits: Mapping[str, Any]) -> bool:
    lower, upper, step = limits["LowerBound"], limits["UpperBound"], limits["ScalarIncrement"]
    if (lower is not None and value < lower) or (upper is not None and value > upper):
        return False
    return not step or (value - (lower or 0)) % step == 0


def _well_formed(value: str, limits: Mapping[str, Any]) -> bool:
    shortest, longest, pattern = limits["MinLength"], limits["MaxLength"], limits["ValueExpression"]
    if (shortest and len(value) < shortest) or (longest and len(value) > longest):
        return False
    try:
        return not pattern or re.search(pattern, value) is not None
    except re.error:  # recorded registries hold expressions of other dialects
        return True
