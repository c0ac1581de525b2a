"""$expand of collections (DSP0266, query parameters), where the persona claims it."""

from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response, reading

_BROKEN = "expand-broken"


async def expand(request: Request, response: Response, dispatch: Callable[[Request], Awaitable[Response]]) -> None:
    """Replace the members of a collection by their documents when the query asks for it."""
    wanted = "$expand" in unquote(request.query)
    if not wanted or not response.document or "Members" not in response.document:
        return
    fault = request.machine.board.faults.take(_BROKEN)
    if fault and fault["how"] == "links":
        return
    members = []
    for reference in response.document["Members"]:
        member = reading(request, reference["@odata.id"])
        try:
            members.append((await dispatch(member)).document or reference)
        except RedfishError:
            members.append(reference)
    response.document["Members"] = members[: len(members) // 2] if fault else members
