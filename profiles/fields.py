"""The kinds of values that profiles are made of."""

import math
import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, StringConstraints, WithJsonSchema

from profiles.problems import refuse

_UNITS_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+"
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_SHORTEST = timedelta(milliseconds=1)
_LONGEST = timedelta(days=365)


class Profile(BaseModel):
    """What all profiles share: unknown keys are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def parse_duration(value: Any) -> timedelta:
    """Return the time of `90s`, `15m` or `1h30m`; to the millisecond, at most a year."""
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str) or not re.fullmatch(_DURATION, value, re.ASCII):
        raise refuse("is not a duration", "write a number and a unit: 90s, 15m, 2h")
    parts = _DURATION_PART.findall(value)
    seconds = sum(float(number) * _UNITS_SECONDS[unit] for number, unit in parts)
    if not _SHORTEST.total_seconds() <= seconds <= _LONGEST.total_seconds():
        raise refuse("is not between 1ms and 365d", "write a number and a unit: 90s, 15m, 2h")
    return timedelta(milliseconds=round(seconds * 1000))


def spell_duration(duration: timedelta) -> str:
    """Return text that parse_duration reads as the same time."""
    milliseconds = duration // _SHORTEST
    return f"{milliseconds}ms" if milliseconds % 1000 else f"{milliseconds // 1000}s"


def _number(value: Any) -> int | float:
    """Return a whole number as int, so that 2 and 2.0 are equal content."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refuse("must be a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise refuse("must be a finite number")
    return int(value) if value == int(value) else value


def _attribute_value(value: Any) -> str | int | bool:
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        raise refuse(f"{value} is read by YAML as a fraction", "quote it if the BMC shows it as text")
    raise refuse("must be text, a whole number, true or false", "quote it if it is text")


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise refuse("must be a whole number")
    return value


def _pattern_with_one_group(value: Any) -> Any:
    try:
        groups = re.compile(value).groups if isinstance(value, str) else 1
    except (re.error, OverflowError, RecursionError) as error:
        raise refuse(f"is not a regular expression: {error}") from error
    if groups != 1:
        raise refuse(f"has {groups} groups, not one", "put ( ) around the version alone; (?: ) does not count")
    return value


Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2000, strip_whitespace=True)]
Glob = Annotated[str, StringConstraints(min_length=1, max_length=200)]
RelativeFile = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$", max_length=200)
]
Hexadecimal = Annotated[str, StringConstraints(pattern=r"^0x([0-9a-f]{2})+$", max_length=130)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
ExtractPattern = Annotated[str, BeforeValidator(_pattern_with_one_group), WithJsonSchema({"type": "string"})]
Whole = Annotated[int, BeforeValidator(_whole)]
Number = Annotated[int | float, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
AttributeValue = Annotated[
    str | int | bool,
    BeforeValidator(_attribute_value),
    WithJsonSchema({"type": ["string", "integer", "boolean"]}),
]
Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(spell_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION}$", "examples": ["90s", "15m", "2h"]}),
]
