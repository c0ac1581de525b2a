"""YAML as people write it, with the line of every value, safe against hostile input.

A subset of YAML 1.1: one document, no anchors or aliases, no tags of one's own, text keys, no dates. What is outside
the subset is a finding with a line, never a traceback.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from profiles.findings import Finding, ProfileError

FieldPath = tuple[str | int, ...]

SIZE_LIMIT_BYTES = 16 * 2**20
DEPTH_LIMIT = 32
FINDINGS_LIMIT = 20
NUMBER_LIMIT_CHARACTERS = 100

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a value begins; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Located:
    """A YAML document: plain values, and where each of them and each key was written.

    `raw` holds the text of the scalars that YAML did not read as text, for example `1.10` of the float 1.1.
    """

    file: Path
    value: Any
    positions: Mapping[FieldPath, Position]
    key_positions: Mapping[FieldPath, Position]
    raw: Mapping[FieldPath, str]

    def finding(self, field: FieldPath, message: str, hint: str = "", *, at_key: bool = False) -> Finding:
        """Return a finding at `field`, or at the nearest enclosing value that was written."""
        position = self.key_positions.get(field) if at_key else None
        written = field
        while position is None:
            position = self.positions.get(written, None if written else Position(1, 1))
            written = written[:-1]
        return Finding(self.file, position.line, position.column, dotted(field), message, hint)


def read_yaml(path: Path) -> Located:
    """Read one YAML file; raise ProfileError with every reason why it cannot be read."""
    text = _read_text(path)
    try:
        _refuse_unsafe(path, text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ProfileError([_syntax_finding(path, error)]) from error
    if node is None:
        raise ProfileError([Finding(path, 1, 1, "", "the file is empty", "write the profile or delete the file")])
    reading = _Reading(path)
    value = reading.value(node, ())
    if reading.findings:
        raise ProfileError(reading.findings)
    return Located(
        path,
        value,
        MappingProxyType(reading.positions),
        MappingProxyType(reading.key_positions),
        MappingProxyType(reading.raw),
    )


def dotted(field: FieldPath) -> str:
    """Return `components[0].version` for ("components", 0, "version")."""
    text = ""
    for part in field:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def without_secret(field: FieldPath, text: str) -> str:
    """Return the text, or `***` where the name of the field says that it is a credential."""
    name = dotted(field[-1:]).lower()
    return "***" if any(word in name for word in ("password", "secret", "token")) else text


def _read_text(path: Path) -> str:
    def refuse(line: int, column: int, message: str, hint: str) -> ProfileError:
        return ProfileError([Finding(path, line, column, "", message, hint)])

    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise refuse(1, 1, f"cannot be read: {reason}", "check the path and its permissions") from error
    if len(content) > SIZE_LIMIT_BYTES:
        raise refuse(1, 1, f"is larger than {SIZE_LIMIT_BYTES} bytes", "split it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise refuse(before.count(b"\n") + 1, column, message, "save the file as UTF-8") from error


def _refuse_unsafe(path: Path, text: str) -> None:
    """Look at the flat stream of events before anything recursive does."""
    findings: list[Finding] = []
    depth = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        refusal = _refusal(event, depth, documents)
        if refusal:
            start = _position(event)
            findings.append(Finding(path, start.line, start.column, "", *refusal))
        if depth > DEPTH_LIMIT or len(findings) >= FINDINGS_LIMIT:
            break
    if findings:
        raise ProfileError(findings)


def _refusal(event: yaml.Event, depth: int, documents: int) -> tuple[str, str] | None:
    """Return what is wrong with the event and the remedy."""
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        return "anchors and aliases are not supported", "write the value out in each place"
    if isinstance(event, yaml.DocumentStartEvent) and documents > 1:
        return "a second document begins here", "keep one document in a file"
    if depth > DEPTH_LIMIT:
        return f"nested deeper than {DEPTH_LIMIT} levels", "check the indentation and the brackets"
    return None


def _syntax_finding(path: Path, error: yaml.YAMLError) -> Finding:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
    hint = "check the indentation, colons and quotes near here"
    if "\\t" in problem or "tab" in problem.lower() or "cannot start any token" in problem:
        hint = "indent with spaces, not tabs; quote text that begins with @, ` or %"
    return Finding(path, line, column, "", f"is not YAML: {problem}", hint)


class _Reading:
    """One pass over the nodes of one file; collects values, positions and findings."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.findings: list[Finding] = []
        self.positions: dict[FieldPath, Position] = {}
        self.key_positions: dict[FieldPath, Position] = {}
        self.raw: dict[FieldPath, str] = {}
        self._constructor = yaml.constructor.SafeConstructor()

    def value(self, node: yaml.Node, field: FieldPath) -> Any:
        self.positions[field] = _position(node)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_STANDARD}map":
            return {key: self.value(child, (*field, key)) for key, child in self._entries(node, field)}
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_STANDARD}seq":
            return [self.value(child, (*field, index)) for index, child in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, field)
        return self._refuse(node, field, f"tag {node.tag} is not supported", "remove the tag")

    def _entries(self, node: yaml.MappingNode, field: FieldPath) -> Iterator[tuple[str, yaml.Node]]:
        seen: dict[str, int] = {}
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_STANDARD}str":
                written = key.value if isinstance(key, yaml.ScalarNode) else "a list or mapping"
                self._refuse(key, field, f"key {written} is not text", f'quote it: "{written}"')
            elif key.value in seen:
                message = f"is written twice, first on line {seen[key.value]}"
                self._refuse(key, (*field, key.value), message, "keep one of them")
            else:
                seen[key.value] = key.start_mark.line + 1
                self.key_positions[(*field, key.value)] = _position(key)
                yield key.value, child

    def _scalar(self, node: yaml.ScalarNode, field: FieldPath) -> Any:
        kind = node.tag.removeprefix(_STANDARD)
        if kind in {"str", "value"}:
            return str(node.value)
        self.raw[field] = node.value
        shown = without_secret(field, node.value)
        if kind == "timestamp":
            return self._refuse(node, field, f"{shown} is read as a date", f'quote it: "{shown}"')
        if kind not in {"null", "bool", "int", "float"}:
            return self._refuse(node, field, f"{node.tag} {shown!r} is not supported", "write plain text")
        try:
            if len(node.value) > NUMBER_LIMIT_CHARACTERS:  # 1:1:1:... takes quadratic time
                raise ValueError
            construct = getattr(self._constructor, f"construct_yaml_{kind}")
            return construct(node)
        except (ValueError, KeyError, IndexError, OverflowError):
            return self._refuse(node, field, f"{shown[:40]!r} is not a valid {kind}", "quote it if it is text")

    def _refuse(self, node: yaml.Node, field: FieldPath, message: str, hint: str) -> None:
        position = _position(node)
        self.findings.append(Finding(self.path, position.line, position.column, dotted(field), message, hint))


def _position(part: yaml.Node | yaml.Event) -> Position:
    mark = part.start_mark
    return Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
