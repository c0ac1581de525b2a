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


def tag_document(request: Request, response: Response) -> None:
    """Put the ETag into the document as well."""
    if response.document is not None and _policy(request) != "none":
        response.etag = orjson.dumps(response.document)
        response.document["@odata.etag"] = _etag(response)


def not_modified(request: Request, response: Response) -> bool:
    """Whether the client has this very answer already (If-None-Match)."""
    wanted = request.headers.get("if-none-match")
    return wanted is not None and response.headers.get("ETag", "-") in _listed(wanted)


async def check_if_match(request: Request, get: Handler) -> None:
    """Raise RedfishError 428 for a missing If-Match where one is needed, 412 for one that does not match.

    `get` answers a GET of the resource that is about to be changed.
    """
    wanted = request.headers.get("if-match")
    policy = _policy(request)
    if wanted is None and policy == "required":
        text = "The request must have an If-Match header."
        raise RedfishError(428, "PreconditionRequired", text)
    if wanted in (None, "*") or policy == "none":
        return
    if _etag(await get(reading(request, request.path))) not in _listed(str(wanted)):
        raise RedfishError(412, "PreconditionFailed", "The ETag supplied did not match the current ETag.")


def _listed(header: str) -> list[str]:
    """The ETags of a header field, without the mark of weak ones."""
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]


def _policy(request: Request) -> str:
    board = request.machine.board
    return "required" if board.faults.peek("etag-required") else board.persona.etag


def _etag(response: Response) -> str:
    basis = response.etag if response.etag is not None else orjson.dumps(response.document)
    return f'"{hashlib.blake2b(basis, digest_size=8).hexdigest()}"'
