"""Header fields that DSP0266 asks for: what a request may say, what an answer to GET tells about its resource."""

from collections.abc import Iterable

from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response
from emulator.redfish.live import schema
from emulator.tree.places import UPDATE_SERVICE

_SCHEMAS = "http://redfish.dmtf.org/schemas/v1"
_MOST_JSON_BYTES = 2**20


def check(request: Request) -> None:
    """Refuse an OData version that we do not speak, a body that is no JSON, one that is too long."""
    if request.headers.get("odata-version", "4.0") != "4.0":
        raise RedfishError(412, "PreconditionFailed", "The OData version is not supported; 4.0 is.")
    if request.path.startswith(UPDATE_SERVICE) or not request.body:
        return
    if len(request.body) > _MOST_JSON_BYTES:
        raise RedfishError(413, "PayloadTooLarge", "The supplied payload exceeds the maximum size supported.")
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        text = f"The request body is of the media type {kind}; application/json is accepted."
        raise RedfishError(415, "UnsupportedMediaType", text)


def describe(response: Response, allowed: Iterable[str]) -> None:
    """Say what may be done with the resource (Allow) and what describes it (Link)."""
    response.headers.setdefault("Allow", ", ".join(allowed))
    kind = str((response.document or {}).get("@odata.type", "")).lstrip("#")
    if kind:
        file = kind.rpartition(".")[0] if kind.count(".") > 1 else schema(response.document or {})
        response.headers.setdefault("Link", f"<{_SCHEMAS}/{file}.json>; rel=describedby")
