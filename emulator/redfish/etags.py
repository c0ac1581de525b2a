"""ETags and If-Match, as strict as the persona or a fault says."""

import hashlib

import orjson

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response, reading
from emulator.redfish.router import Handler


def add_etag(request: Request, response: Response) -> None:
    """Give a resource its ETag, unless its handler did or the persona has none."""
    if response.document is not None and _policy(request) != "none" and "ETag" not in response.headers:
        response.headers["ETag"] = _shown(request, _etag(response))


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
        raise _required(request)
    if wanted in (None, "*") or policy == "none":
        return
    if not _matches(request, _etag(await get(reading(request, request.path))), str(wanted)):
        raise RedfishError(412, "PreconditionFailed", "The ETag supplied did not match the current ETag.")


def _required(request: Request) -> RedfishError:
    """428 as RFC 6585 has it, or what some BMCs send instead."""
    fault = request.machine.board.faults.peek("etag-required")
    status = int(fault["status"]) if fault else 428
    if status == 400:
        text = "The request did not provide the required header If-Match."
        return RedfishError(400, "HeaderMissing", text, "If-Match")
    text = "The request must have an If-Match header."
    return RedfishError(status, "PreconditionRequired" if status == 428 else "PreconditionFailed", text)


def _shown(request: Request, etag: str) -> str:
    """The ETag as the header has it."""
    fault = request.machine.board.faults.peek("etag-form")
    if fault is None:
        return etag
    if fault["how"] == "gzip":
        zipped = "gzip" in request.headers.get("accept-encoding", "")
        return f'{etag[:-1]}-gzip"' if zipped else etag
    return {"weak": f"W/{etag}", "unquoted": etag.strip('"'), "doubled": f'"{etag}"', "empty": '""'}.get(
        str(fault["how"]), etag
    )


def _matches(request: Request, etag: str, wanted: str) -> bool:
    """Whether If-Match has the ETag; forms that are wrong are compared as the BMCs do that send them."""
    fault = request.machine.board.faults.peek("etag-form")
    if fault is None:
        return etag in _listed(wanted)
    accepted = {"unquoted": etag.strip('"'), "empty": None, "refused": None}.get(str(fault["how"]), etag)
    return accepted in [tag.strip() for tag in wanted.split(",")]


def _listed(header: str) -> list[str]:
    """The ETags of a header field, without the mark of weak ones."""
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]


def _policy(request: Request) -> str:
    board = request.machine.board
    form = board.faults.peek("etag-form")
    if form and form["how"] == "absent":
        return "none"
    return "required" if board.faults.peek("etag-required") else board.persona.etag


def _etag(response: Response) -> str:
    basis = response.etag if response.etag is not None else orjson.dumps(response.document)
    return f'"{hashlib.blake2b(basis, digest_size=8).hexdigest()}"'
