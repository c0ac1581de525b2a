"""From a located YAML document to a pydantic model, or to findings with lines and remedies."""

import re
from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.problems import PROBLEMS, Problem
from profiles.yaml_source import FieldPath, Located, without_secret

Model = TypeVar("Model", bound=BaseModel)

MISSING = "is missing"

_SHAPES = {
    "model_type": "a mapping (key: value)",
    "model_attributes_type": "a mapping (key: value)",
    "dict_type": "a mapping (key: value)",
    "tuple_type": "a list (- item)",
    "list_type": "a list (- item)",
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}


def validate(model: type[Model], located: Located) -> Model:
    """Return the document as `model`; raise ProfileError with every finding, each with line and remedy."""
    try:
        return model.model_validate(located.value)
    except ValidationError as error:
        details = [detail for detail in error.errors(include_url=False) if not _follows_from_others(detail)]
        findings = {finding for detail in details for finding in _findings(model, located, detail)}
        raise ProfileError(findings) from error


def validate_part(model: type[BaseModel], located: Located) -> None:
    """Raise ProfileError with every finding, except that something is missing: others will add it."""
    try:
        validate(model, located)
    except ProfileError as error:
        findings = [one for one in error.findings if not one.message.startswith(MISSING)]
        if findings:
            raise ProfileError(findings) from error


def check_name(located: Located, key: str = "name") -> None:
    """Raise ProfileError where a profile's name, the value of `key`, is not its file's name."""
    name, expected = located.value.get(key), located.file.stem
    if name != expected:
        message = f'"{name}" differs from the name of the file'
        raise ProfileError([located.finding((key,), message, f'write "{expected}" or rename the file')])


def _findings(model: type[BaseModel], located: Located, detail: ErrorDetails) -> Iterator[Finding]:
    problems: tuple[Problem, ...] = detail.get("ctx", {}).get(PROBLEMS, ())
    field = _written(located, detail["loc"])
    for problem in problems:
        at_key = (*field, *problem.at) in located.key_positions
        yield located.finding((*field, *problem.at), problem.message, problem.hint, at_key=at_key)
    if not problems:
        yield _finding(model, located, detail)


def _finding(model: type[BaseModel], located: Located, detail: ErrorDetails) -> Finding:
    kind, wrong = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        field = (*_written(located, detail["loc"][:-1]), detail["loc"][-1])
        known = known_keys(model, detail["loc"][:-1])
        hint = did_you_mean(str(detail["loc"][-1]), known)
        return located.finding(field, "is not a known key", hint, at_key=True)
    if kind == "missing":
        field = (*_written(located, detail["loc"][:-1]), detail["loc"][-1])
        return located.finding(field, MISSING, "add it")
    field = _written(located, detail["loc"])
    if kind == "string_type" and field in located.raw and wrong is not None:
        return _unquoted(located, field, wrong)
    if kind in {"enum", "literal_error"}:
        return _not_allowed(located, field, detail)
    if kind in _SHAPES:
        return located.finding(field, f"must be {_SHAPES[kind]}, not {spoken(wrong)}")
    if kind == "too_short":
        return located.finding(field, "is empty", "list at least one")
    if kind == "string_pattern_mismatch":
        return located.finding(field, f"{wrong!r} does not match {detail['ctx']['pattern']}")
    message = detail["msg"].removeprefix("Value error, ")
    return located.finding(field, message[:1].lower() + message[1:])


def _not_allowed(located: Located, field: FieldPath, detail: ErrorDetails) -> Finding:
    words = re.findall(r"'([^']+)'|\b(True|False)\b", str(detail["ctx"].get("expected", "")))
    allowed, wrong = [text or truth.lower() for text, truth in words], detail["input"]
    if located.raw.get(field) in allowed:  # `off` is a truth value to YAML
        return _unquoted(located, field, wrong)
    return located.finding(field, f"{wrong!r} is not one of {', '.join(allowed)}", did_you_mean(str(wrong), allowed))


def _unquoted(located: Located, field: FieldPath, wrong: Any) -> Finding:
    shown = without_secret(field, located.raw[field])
    message = f"{shown} is read by YAML as {spoken(wrong)}, not as text"
    return located.finding(field, message, f'quote it: "{shown}"')


def _follows_from_others(detail: ErrorDetails) -> bool:
    """Say whether a list counts as too short only because its items were refused."""
    return detail["type"] == "too_short" and bool(detail["input"])


def _written(located: Located, loc: tuple[int | str, ...]) -> FieldPath:
    """Return the part of pydantic's location that exists in the document (unions add names of their own)."""
    field: FieldPath = ()
    for part in loc:
        if (*field, part) in located.positions:
            field = (*field, part)
    return field


def spoken(value: Any) -> str:
    """What kind of value YAML has read, in words."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")


def known_keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the keys that the model or models at `loc` inside `model` accept."""
    here: list[type[BaseModel]] = [model]
    for part in loc:
        inner = [
            found
            for candidate in here
            if part in candidate.model_fields
            for found in _models_in(candidate.model_fields[str(part)].annotation)
        ]
        here = inner or here
    return tuple(name for candidate in here for name in _names(candidate))


def _names(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
