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
        for route in routes:
            node = self._root
            for segment in route.path.strip("/").split("/"):
                node = _grow(node, segment)
            node.route = route

    def find(self, path: str) -> tuple[Route, tuple[str, ...]] | None:
        """The route of `path` and its parameters, or None."""
        return _find(self._root, path.strip("/").split("/"), ())


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


def _find(node: _Node, segments: list[str], parameters: tuple[str, ...]) -> tuple[Route, tuple[str, ...]] | None:
    if not segments:
        return (node.route, parameters) if node.route else None
    child = node.children.get(segments[0])
    found = _find(child, segments[1:], parameters) if child else None
    if found is None and node.parameter:
        found = _find(node.parameter, segments[1:], (*parameters, segments[0]))
    return found
