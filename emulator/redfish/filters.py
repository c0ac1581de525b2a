"""`$filter` (DSP0266, the subset of OData that Redfish has): comparisons, `and`, `or`, `not`, parentheses.

odata-query would do it, but holds python-dateutil back to 2.x.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

Predicate = Callable[[Mapping[str, Any]], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))|(?P<mark>[()])|(?P<word>[\w@#.][\w@#./\[\]-]*))"
)
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_LITERALS = {"true": True, "false": False, "null": None}
_DEEPEST = 32


def read_filter(text: str) -> Predicate:
    """Whether a resource passes the filter `text`. Raises ValueError for what is no filter."""
    reader = _Reader(_tokens(text))
    predicate = reader.either(0)
    if not reader.at_end:
        raise ValueError(f"'{reader.next()}' was not expected")
    return predicate


def _tokens(text: str) -> list[str]:
    tokens, position, end = [], 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(f"it cannot be read at '{text[position : position + 20]}'")
        tokens.append(found.group(0).strip())
        position = found.end()
    return tokens


class _Reader:
    """A recursive descent over the tokens; `or` binds weaker than `and`, `not` strongest."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._position = 0

    @property
    def at_end(self) -> bool:
        return self._position >= len(self._tokens)

    def next(self) -> str:
        if self.at_end:
            raise ValueError("it ends too early")
        self._position += 1
        return self._tokens[self._position - 1]

    def either(self, depth: int) -> Predicate:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        left = self._both(depth)
        while self._takes("or"):
            left = _either(left, self._both(depth))
        return left

    def _both(self, depth: int) -> Predicate:
        left = self._one(depth)
        while self._takes("and"):
            left = _both(left, self._one(depth))
        return left

    def _one(self, depth: int) -> Predicate:
        if self._takes("not"):
            inner = self._one(depth + 1) if depth < _DEEPEST else self.either(depth + 1)
            return lambda resource: not inner(resource)
        if self._takes("("):
            inner = self.either(depth + 1)
            if not self._takes(")"):
                raise ValueError("a parenthesis is not closed")
            return inner
        return _comparison(self.next(), self.next(), self.next())

    def _takes(self, token: str) -> bool:
        taken = not self.at_end and self._tokens[self._position] == token
        self._position += taken
        return taken


def _comparison(name: str, operation: str, literal: str) -> Predicate:
    if operation not in _COMPARE:
        raise ValueError(f"'{operation}' is no comparison")
    compare, value = _COMPARE[operation], _literal(literal)

    def holds(resource: Mapping[str, Any]) -> bool:
        found = _property(resource, name)
        if isinstance(value, bool | None) or type(found) is type(value) or isinstance(found, int | float):
            try:
                return compare(found, value)
            except TypeError:
                return False
        return compare is operator.ne

    return holds


def _literal(token: str) -> Any:
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if token in _LITERALS:
        return _LITERALS[token]
    try:
        return float(token) if "." in token else int(token)
    except ValueError:
        raise ValueError(f"'{token}' is no value; text stands in single quotes") from None


def _property(resource: Mapping[str, Any], name: str) -> Any:
    value: Any = resource
    for part in name.split("/"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _either(left: Predicate, right: Predicate) -> Predicate:
    return lambda resource: left(resource) or right(resource)


def _both(left: Predicate, right: Predicate) -> Predicate:
    return lambda resource: left(resource) and right(resource)
