"""ETags and If-Match, as strict as the persona or a fault says."""

import hashlib

import orjson

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response, reading
from emulator.redfish.router import Handler


def add_etag(request: Request, response: Response) -> None:
    """Give a resource its ETag, unless the persona has none."""
    if response.document is not None and _policy(request) != "none":
        response.headers["ETag"] = _etag(response)


async def check_if_match(request: Request, get: Handler | None) -> None:
    """Raise RedfishError 428 for a missing If-Match where one is needed, 412 for one that does not match."""
    wanted = request.headers.get("if-match")
    policy = _policy(request)
    if wanted is None and policy == "required":
        text = "The request must have an If-Match header."
        raise RedfishError(428, "PreconditionRequired", text)
    if wanted in (None, "*") or policy == "none" or get is None:
        return
    current = reading(request, request.path)
    current.parameters = request.parameters
    if _etag(await get(current)) not in str(wanted):
        raise RedfishError(412, "PreconditionFailed", "The ETag supplied did not match the current ETag.")


def _policy(request: Request) -> str:
    board = request.machine.board
    return "required" if board.faults.peek("etag-required") else board.persona.etag


def _etag(response: Response) -> str:
    return f'"{hashlib.blake2b(orjson.dumps(response.document), digest_size=8).hexdigest()}"'
