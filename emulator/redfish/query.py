"""Query parameters (DSP0266): which ones a request has, checked against what the persona says it can do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from emulator.persona.persona import Persona
from emulator.redfish.errors import RedfishError
from emulator.redfish.filters import Predicate, read_filter

Read = Callable[[Persona, str], object]

_EXPAND = {"*": "everything", ".": "subordinate", "~": "links"}
_LEVELS = "($levels="


@dataclass(frozen=True, slots=True)
class Expansion:
    """`$expand`: what of a resource is expanded, how deep."""

    what: str
    levels: int

    @property
    def subordinate(self) -> bool:
        """Whether references outside of Links are expanded."""
        return self.what != "links"

    @property
    def links(self) -> bool:
        """Whether references in Links are expanded."""
        return self.what != "subordinate"


@dataclass(frozen=True, slots=True)
class Query:
    """The query parameters of one GET; None: not asked for."""

    expand: Expansion | None = None
    select: tuple[str, ...] | None = None
    matches: Predicate | None = None
    skip: int = 0
    top: int | None = None
    only: bool = False

    @property
    def of_collections(self) -> str | None:
        """The name of a parameter in use that only collections take, or None."""
        used = {"$filter": self.matches, "$skip": self.skip, "$top": self.top is not None, "only": self.only}
        return next((name for name, value in used.items() if value), None)


NOTHING = Query()


def read_query(persona: Persona, text: str) -> Query:
    """The query of a GET. Raises RedfishError 501 for what the service does not have, 400 for wrong values."""
    if not text:
        return NOTHING
    found: dict[str, object] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name in _READERS:
            supported, field, read = _READERS[name]
            if supported(persona):
                found[field] = read(persona, value)
            elif name.startswith("$"):
                raise _unsupported(name)
        elif name == "excerpt":
            raise _wrong(name, value)
        elif name.startswith("$"):
            raise _unsupported(name)
    return Query(**found)  # type: ignore[arg-type]  # each reader gives the type of its field


def _expansion(persona: Persona, value: str) -> Expansion:
    what, bracket, rest = value.partition("(")
    levels = 1
    if bracket:
        number = rest.removeprefix("$levels=").removesuffix(")")
        if not value[len(what) :].startswith(_LEVELS) or not value.endswith(")") or not number.isdigit():
            raise _wrong("$expand", value)
        levels = int(number)
    offered = {"*": persona.expand.expand_all, ".": persona.expand.no_links, "~": persona.expand.links}
    if what not in _EXPAND or not offered[what] or (bracket and not persona.expand.levels):
        raise _wrong("$expand", value)
    if not 1 <= levels <= persona.expand.max_levels:
        text = f"The value '{levels}' of the query parameter $expand is out of range 1 to {persona.expand.max_levels}."
        raise RedfishError(400, "QueryParameterOutOfRange", text, str(levels), "$expand", "1 to 6")
    return Expansion(_EXPAND[what], levels)


def _selection(_persona: Persona, value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise _wrong("$select", value)
    return names


def _filter(_persona: Persona, value: str) -> Predicate:
    try:
        return read_filter(value)
    except ValueError as error:
        raise _wrong("$filter", f"{value} ({error})") from error


def _only(_persona: Persona, value: str) -> bool:
    if value:
        raise _wrong("only", value)
    return True


def _number(name: str) -> Read:
    def read(_persona: Persona, value: str) -> int:
        if not value.isascii() or not value.isdigit() or len(value) > 9:
            raise _wrong(name, value)
        return int(value)

    return read


def _unsupported(name: str) -> RedfishError:
    text = f"Querying is not supported by the implementation: {name}."
    return RedfishError(501, "QueryNotSupported", text)


def _wrong(name: str, value: str) -> RedfishError:
    text = f"The value '{value}' for the parameter {name} is of a different format than the parameter can accept."
    return RedfishError(400, "QueryParameterValueFormatError", text, value, name)


def not_on_resource(name: str) -> RedfishError:
    """400: a query parameter of collections on a single resource."""
    text = f"Querying is not supported on the requested resource: {name}."
    return RedfishError(400, "QueryNotSupportedOnResource", text)


_READERS: Mapping[str, tuple[Callable[[Persona], bool], str, Read]] = {
    "$expand": (lambda persona: persona.expand.no_links, "expand", _expansion),
    "$select": (lambda persona: persona.protocol.select, "select", _selection),
    "$filter": (lambda persona: persona.protocol.filter, "matches", _filter),
    "$skip": (lambda persona: persona.protocol.top_skip, "skip", _number("$skip")),
    "$top": (lambda persona: persona.protocol.top_skip, "top", _number("$top")),
    "only": (lambda persona: persona.protocol.only, "only", _only),
}
