"""What handlers answer on a recorded server: the recorded resource, with what really changes written over it."""

from collections.abc import Mapping

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response
from emulator.redfish.live import schema, show
from emulator.redfish.router import Handler
from emulator.tree.document import Document

_LIVE: Mapping[str, tuple[str, ...]] = {
    "ManagerAccount": ("UserName", "RoleId", "Enabled", "Locked", "PasswordChangeRequired", "@odata.etag"),
    "SoftwareInventory": ("Version",),
}
"""Properties of which the handler knows better, where they were recorded and the handler has a value."""


async def answer_recorded(request: Request, answer: Handler) -> Response:
    """The answer to a GET that `answer` handles. Raises RedfishError 404 for what neither it nor the recording has."""
    recorded = show(request.machine, request.path)
    if recorded is None:
        return await answer(request)
    try:
        response = await answer(request)
    except RedfishError:
        return Response(200, recorded)
    live = response.document or {}
    if "Members" in recorded and "Members" in live:
        _join(recorded, live)
    for name in _LIVE.get(schema(recorded), ()):
        if name in recorded and live.get(name) not in (None, ""):
            recorded[name] = live[name]
    response.document = recorded
    return response


def _join(recorded: Document, live: Document) -> None:
    """The members that were recorded, and those that have come since."""
    known = {member["@odata.id"].rstrip("/").lower() for member in recorded["Members"]}
    recorded["Members"] += [member for member in live["Members"] if member["@odata.id"].lower() not in known]
    if "Members@odata.count" in recorded:
        recorded["Members@odata.count"] = len(recorded["Members"])
