"""YAML files read strictly: an unknown field is refused with its file, its line and the nearest known field."""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from emulator.errors import ConfigError

Model = TypeVar("Model", bound=BaseModel)
Location = Sequence[int | str]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(path: Path, model: type[Model]) -> Model:
    """Read `path` as one `model`; raises ConfigError naming file, line and, for an unknown field, the nearest one."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not YAML: it is not text in UTF-8 ({error.reason})") from error
    try:
        content = yaml.load(text, Loader=_LOADER)  # noqa: S506  (a safe loader, the C one where there is one)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not YAML: {error}") from error
    try:
        return model.model_validate(content)
    except ValidationError as error:
        node = yaml.compose(text, Loader=_LOADER)
        lines = [_describe(path, node, model, problem) for problem in error.errors()[:5]]
        raise ConfigError("\n".join(lines)) from error


def place_in(path: Path, location: Location) -> str:
    """`file:line: field` of a part of a file that has been read, for a message about it."""
    node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_LOADER)
    return _place(path, node, location)


def _describe(path: Path, node: yaml.Node | None, model: type[BaseModel], problem: Any) -> str:
    context = problem.get("ctx", {})
    location: Location = (*problem["loc"], *context.get("at", ()))  # a validator may know the place better
    where = _place(path, node, location)
    if problem["type"] == "value_error":
        return f"{where}: {context['error']}"
    if problem["type"] != "extra_forbidden":
        return f"{where}: {problem['msg']}"
    known = sorted(_fields_at(model, location[:-1]))
    near = difflib.get_close_matches(str(location[-1]), known, n=1)
    advice = f"did you mean '{near[0]}'?" if near else f"known fields: {', '.join(known)}"
    return f"{where}: unknown field; {advice}"


def _place(path: Path, node: yaml.Node | None, location: Location) -> str:
    return f"{path}:{_line(node, location)}: {'.'.join(map(str, location)) or 'the file'}"


def _line(node: yaml.Node | None, location: Location) -> int:
    """The line of the deepest part of `location` that the document has, counted from one."""
    line = node.start_mark.line if node else 0
    for part in location:
        found = next((pair for pair in _children(node) if pair[0] == str(part)), None)
        if found is None:
            break
        _, line, node = found
    return line + 1


def _children(node: yaml.Node | None) -> Iterator[tuple[str, int, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), key.start_mark.line, value
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield str(index), value.start_mark.line, value


def _fields_at(model: type[BaseModel], location: Location) -> set[str]:
    models = {model}
    for part in location:
        fields = [one.model_fields[str(part)].annotation for one in models if str(part) in one.model_fields]
        models = {found for field in fields for found in _models_in(field)} or models
    return {name for one in models for name in one.model_fields}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
