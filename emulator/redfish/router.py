"""Which handler answers which path: a tree of path segments, `{}` stands for any one segment."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """A path with `{}` for each parameter, and who answers each method."""

    path: str
    get: Handler | None = None
    patch: Handler | None = None
    post: Handler | None = None
    delete: Handler | None = None
    anyone: frozenset[str] = frozenset()  # methods that need no credentials
    lasting: bool = False  # what GET answers changes only when something happens to the machine


@dataclass(slots=True)
class _Node:
    children: dict[str, "_Node"] = field(default_factory=dict)
    parameter: "_Node | None" = None
    route: Route | None = None


class Router:
    """All routes of the services."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """A later route replaces an earlier one of the same path."""
        self._root = _Node()
        self._folded = _Node()
        for route in routes:
            segments = route.path.strip("/").split("/")
            _leaf(self._root, segments).route = route
            _leaf(self._folded, [segment.lower() for segment in segments]).route = route

    def find(self, path: str, *, any_case: bool = False) -> tuple[Route, tuple[str, ...]] | None:
        """The route of `path` and its parameters, or None; `any_case`: the path may be written in any."""
        segments = path.strip("/").split("/")
        return _find(self._folded, segments, (), str.lower) if any_case else _find(self._root, segments, (), str)


def handler(route: Route, method: str) -> Handler | None:
    """Who answers `method`, or None."""
    return {
        "GET": route.get,
        "HEAD": route.get,
        "PATCH": route.patch,
        "POST": route.post,
        "DELETE": route.delete,
    }.get(method)


def refuse_method(request: Request, allowed: Iterable[str]) -> RedfishError:
    """405 with the methods that there are."""
    text = f"The HTTP method {request.method} is not allowed on this resource."
    error = RedfishError(405, "OperationNotAllowed", text)
    error.headers = {"Allow": ", ".join(allowed)}
    return error


def _grow(node: _Node, segment: str) -> _Node:
    if segment != "{}":
        return node.children.setdefault(segment, _Node())
    node.parameter = node.parameter or _Node()
    return node.parameter


def _leaf(node: _Node, segments: Iterable[str]) -> _Node:
    for segment in segments:
        node = _grow(node, segment)
    return node


def _find(
    node: _Node, segments: list[str], parameters: tuple[str, ...], fold: Callable[[str], str]
) -> tuple[Route, tuple[str, ...]] | None:
    if not segments:
        return (node.route, parameters) if node.route else None
    child = node.children.get(fold(segments[0]))
    found = _find(child, segments[1:], parameters, fold) if child else None
    if found is None and node.parameter:
        found = _find(node.parameter, segments[1:], (*parameters, segments[0]), fold)
    return found
