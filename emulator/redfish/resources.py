"""Who answers a request: a handler, the machine's tree of resources, or sushy-tools."""

from collections.abc import Awaitable, Callable

import orjson

from emulator.redfish import written
from emulator.redfish.authentication import authenticate, recognise
from emulator.redfish.errors import not_found
from emulator.redfish.etags import check_if_match
from emulator.redfish.headers import check
from emulator.redfish.http import Request, Response
from emulator.redfish.live import measure, schema, show
from emulator.redfish.recorded import answer_recorded
from emulator.redfish.router import Route, Router, handler, refuse_method
from emulator.tree.document import ROOT, Document

Fallback = Callable[[Request], Awaitable[Response]]

_NOTHING = Route("")
_NEVER_CHANGED = ("ActionInfo", "AttributeRegistry", "MessageRegistry", "MessageRegistryFile")  # wherever they are
_POST_UNKNOWN_TO_SCHEMA = ("SoftwareInventoryCollection",)  # firmware is pushed there on some BMCs


class Resources:
    """All resources of all machines; `fallback` answers below the paths that it is good at."""

    def __init__(self, router: Router, fallback: Fallback, fallback_answers: Callable[[Request], bool]) -> None:
        """`fallback_answers` says whether a path is one of the fallback's."""
        self._router = router
        self._fallback = fallback
        self._fallback_answers = fallback_answers

    async def dispatch(self, request: Request) -> Response:
        """The answer to a request; raises RedfishError for a refusal."""
        route, request.parameters = self._find(request)
        check(request)
        open_root = request.path == ROOT and request.method in ("GET", "HEAD")
        if open_root or request.method in route.anyone:
            recognise(request)
        elif not request.authenticated:
            authenticate(request)
        if handler(route, request.method) is None and self._fallback_answers(request):
            return await self._fallback(request)
        if request.method == "PATCH" and _takes_changes(request, route):
            await check_if_match(request, self.dispatch)
        answer = handler(route, request.method)
        if answer:
            reads_recorded = request.machine.board.kind.recorded and request.method in ("GET", "HEAD")
            response = await (answer_recorded(request, answer) if reads_recorded else answer(request))
            response.lasting = route.lasting
            return response
        return await self._of_tree(request, route)

    def allowed(self, request: Request, document: Document | None) -> tuple[str, ...]:
        """The methods that the resource of the request takes; `document` is what GET answers, None: nothing."""
        route, _ = self._find(request)
        methods = [method for method in ("PATCH", "POST", "DELETE") if handler(route, method)]
        kind = schema(document or {})
        if "PATCH" not in methods and written.WRITABLE.get(kind):
            methods.insert(0, "PATCH")
        if kind in _POST_UNKNOWN_TO_SCHEMA:
            methods = [method for method in methods if method != "POST"]
        if kind in _NEVER_CHANGED:
            methods = []
        return (*(("GET", "HEAD") if route.get or document is not None else ()), *methods)

    def _find(self, request: Request) -> tuple[Route, tuple[str, ...]]:
        kind = request.machine.board.kind
        path = kind.aliases.get(request.path, request.path)
        return self._router.find(path, any_case=kind.recorded) or (_NOTHING, ())

    async def _of_tree(self, request: Request, route: Route) -> Response:
        document = show(request.machine, request.path)
        if document is None and not _is_called(request, route):
            raise not_found(request.path)
        if document is not None and request.method == "PATCH" and written.WRITABLE.get(schema(document)):
            return await written.change(request, document, schema(document))
        if document is None or request.method not in ("GET", "HEAD"):
            raise refuse_method(request, self.allowed(request, document))
        basis = orjson.dumps(document)
        return Response(200, document, etag=basis, lasting=not measure(request.machine, document))


def _is_called(request: Request, route: Route) -> bool:
    """Whether the path is no resource but something that is called: an action, or where firmware is pushed to."""
    path = request.machine.board.kind.aliases.get(request.path, request.path)
    return route.post is not None and ("/Actions/" in path or path.startswith("/redfish/v1/UpdateService/"))


def _takes_changes(request: Request, route: Route) -> bool:
    return route.patch is not None or bool(written.WRITABLE.get(schema(show(request.machine, request.path) or {})))
