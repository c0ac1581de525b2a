"""What a query makes of an answer: members filtered, paged and expanded, properties selected (DSP0266)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response, reading
from emulator.redfish.query import Expansion, Query, not_on_resource
from emulator.tree.document import Document

_BROKEN = "expand-broken"
_MOST = 5000  # resources in one answer
_KEPT = ("@odata.id", "@odata.type", "@odata.context", "@odata.etag", "Members", "Members@odata.count")

Dispatch = Callable[[Request], Awaitable[Response]]


async def apply_query(request: Request, response: Response, query: Query, dispatch: Dispatch) -> None:
    """Change the document of `response` as `query` asks. Raises RedfishError for what does not fit the resource."""
    document = response.document
    if document is None:
        return
    if "Members" not in document:
        if query.of_collections:
            raise not_on_resource(query.of_collections)
    else:
        document = response.document = await _members(request, response, query, dispatch)
    if query.expand:
        await _Expander(request, response, dispatch).expand(document, query.expand)
    if query.select is not None:
        response.document = _selected(document, query.select)


def is_long(request: Request, response: Response) -> bool:
    """Whether a collection has more members than the service sends at once."""
    page = request.machine.board.persona.protocol.page_size
    return page is not None and len((response.document or {}).get("Members", ())) > page


async def _members(request: Request, response: Response, query: Query, dispatch: Dispatch) -> Document:
    document: Document = response.document or {}
    members = document["Members"]
    if query.only:
        return (await _read(request, response, members[0]["@odata.id"], dispatch)) if len(members) == 1 else document
    if query.matches:
        read = [(member, await _read(request, response, member["@odata.id"], dispatch)) for member in members]
        members = [member for member, whole in read if query.matches(whole)]
        document["Members@odata.count"] = len(members)
    page = request.machine.board.persona.protocol.page_size
    first, most = query.skip, query.top if query.top is not None else page
    if most is not None or first:
        limit = len(members) if most is None else min(most, page or most)
        shown = members[first : first + limit]
        if query.top is None and first + limit < len(members):
            document["Members@odata.nextLink"] = f"{request.path}?$skip={first + limit}"
        members = shown
    document["Members"] = members
    return document


class _Expander:
    """Replaces references by the documents that they lead to."""

    def __init__(self, request: Request, response: Response, dispatch: Dispatch) -> None:
        self._request = request
        self._response = response
        self._dispatch = dispatch
        self._left = _MOST

    async def expand(self, document: Document, expansion: Expansion) -> None:
        """Expand `document` in place; a broken $expand, if the machine has one, hits collections."""
        fault = self._request.machine.board.faults.take(_BROKEN) if "Members" in document else None
        if fault and fault["how"] == "links":
            return
        await self._walk(document, expansion, in_links=False)
        if fault:
            document["Members"] = document["Members"][: len(document["Members"]) // 2]

    async def _walk(self, part: Any, expansion: Expansion, *, in_links: bool) -> None:
        pairs = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in list(pairs):
            links = in_links or key == "Links" or (isinstance(key, str) and key.startswith("@Redfish."))
            if not isinstance(value, dict | list) or key in ("Actions", "Oem"):
                continue
            if isinstance(value, dict) and list(value) == ["@odata.id"]:
                if expansion.links if links else expansion.subordinate:
                    part[key] = await self._expanded(value, expansion)
            else:
                await self._walk(value, expansion, in_links=links)

    async def _expanded(self, reference: Document, expansion: Expansion) -> Document:
        self._left -= 1
        if self._left < 0:
            text = f"The expanded answer would hold more than {_MOST} resources."
            raise RedfishError(400, "QueryCombinationInvalid", text)
        try:
            document = await _read(self._request, self._response, reference["@odata.id"], self._dispatch)
        except RedfishError:
            return reference
        if expansion.levels > 1:
            await self._walk(document, replace(expansion, levels=expansion.levels - 1), in_links=False)
        return document


async def _read(request: Request, response: Response, path: str, dispatch: Dispatch) -> Document:
    """The resource at `path`; `response` stays the same only as long as each part of it does."""
    answer = await dispatch(reading(request, path.partition("#")[0].rstrip("/")))
    response.lasting = response.lasting and answer.lasting
    return answer.document or {}


def _selected(document: Document, names: tuple[str, ...]) -> Document:
    kept = {name: value for name, value in document.items() if name in _KEPT}
    for name in names:
        _copy(document, kept, name.split("/"))
    order = {name: number for number, name in enumerate(document)}
    return dict(sorted(kept.items(), key=lambda pair: order[pair[0]]))


def _copy(source: Document, target: Document, path: list[str]) -> None:
    name, *rest = path
    if name not in source:
        return
    if rest and isinstance(source[name], dict):
        _copy(source[name], target.setdefault(name, {}), rest)
    else:
        target[name] = source[name]
