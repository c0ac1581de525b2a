"""From a located YAML document to a pydantic model, or to findings with lines and remedies."""

import re
from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.yaml_source import FieldPath, Located

Model = TypeVar("Model", bound=BaseModel)

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
        details = error.errors(include_url=False)
        raise ProfileError({_finding(model, located, detail) for detail in details}) from error


def _finding(model: type[BaseModel], located: Located, detail: ErrorDetails) -> Finding:
    kind, wrong = detail["type"], detail["input"]
    context = detail.get("ctx", {})
    if kind == "extra_forbidden":
        field = (*_written(located, detail["loc"][:-1]), detail["loc"][-1])
        known = known_keys(model, detail["loc"][:-1])
        hint = did_you_mean(str(detail["loc"][-1]), known)
        return located.finding(field, "is not a known key", hint, at_key=True)
    if kind == "missing":
        field = (*_written(located, detail["loc"][:-1]), detail["loc"][-1])
        return located.finding(field, "is missing", "add it")
    field = _written(located, detail["loc"])
    if kind == "string_type" and field in located.raw and wrong is not None:
        message = f"{located.raw[field]} is read by YAML as {_spoken(wrong)}, not as text"
        return located.finding(field, message, f'quote it: "{located.raw[field]}"')
    if kind in {"enum", "literal_error"}:
        allowed = re.findall(r"'([^']+)'", str(context.get("expected", "")))
        return located.finding(
            field, f"{wrong!r} is not one of {', '.join(allowed)}", did_you_mean(str(wrong), allowed)
        )
    if kind in _SHAPES:
        return located.finding(field, f"must be {_SHAPES[kind]}, not {_spoken(wrong)}")
    message = detail["msg"].removeprefix("Value error, ")
    return located.finding(field, message[:1].lower() + message[1:], str(context.get("hint", "")))


def _written(located: Located, loc: tuple[int | str, ...]) -> FieldPath:
    """Return the part of pydantic's location that exists in the document (unions add names of their own)."""
    field: FieldPath = ()
    for part in loc:
        if (*field, part) in located.positions:
            field = (*field, part)
    return field


def _spoken(value: Any) -> str:
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
