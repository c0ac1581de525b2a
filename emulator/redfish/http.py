"""Requests and answers between the services and the server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError, missing, unknown_property, wrong_type
from emulator.redfish.upload import Received
from emulator.tree import document as tree


@dataclass(slots=True)
class Request:
    """One request to one BMC; `path` has no trailing slash, header names are lower case.

    `username` and `session` are set by authentication: who sent it, and by which session if by one.
    """

    machine: Machine
    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    parameters: tuple[str, ...] = ()
    authenticated: bool = False
    username: str = ""
    session: str = ""
    upload: Received | None = None  # a package that was pushed; `body` is empty then

    def json(self, allowed: tuple[str, ...] = ()) -> dict[str, Any]:
        """The body as a JSON object; with `allowed`, another property is refused. Raises RedfishError 400."""
        try:
            document = orjson.loads(self.body or b"{}")
        except orjson.JSONDecodeError:
            raise RedfishError(400, "MalformedJSON", "The request body was malformed JSON.") from None
        if not isinstance(document, dict):
            raise RedfishError(400, "MalformedJSON", "The request body is not a JSON object.")
        for name in document:
            if allowed and name not in allowed and not name.startswith("@"):
                raise unknown_property(name)
        return document

    def text(self, document: dict[str, Any], name: str) -> str:
        """A property that must be there and be text. Raises RedfishError 400."""
        if name not in document:
            raise missing(name)
        if not isinstance(document[name], str):
            raise wrong_type(document[name], name)
        return str(document[name])


def reading(request: Request, path: str) -> Request:
    """A GET of `path` on behalf of whoever sent `request`."""
    return Request(
        request.machine, "GET", path, "", {}, b"", authenticated=request.authenticated, username=request.username
    )


@dataclass(slots=True)
class Response:
    """An answer: a JSON document, raw bytes in `content`, or a `stream` of bytes that goes on until it ends.

    `etag` is what the ETag is made of when that is not the whole document. `lasting`: it stays the same until
    something happens to the machine. `zipped`: a document is sent compressed.
    """

    status: int = 200
    document: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    stream: AsyncIterator[bytes] | None = None
    etag: bytes | None = None
    lasting: bool = False
    zipped: bool = False


def ok(kind: str, path: str, document: dict[str, Any]) -> Response:
    """200 with a resource of schema `kind` (`ComputerSystem.v1_14_0.ComputerSystem`)."""
    return Response(200, {"@odata.type": f"#{kind}", "@odata.id": path, **document})


def collection(kind: str, path: str, name: str, members: list[str]) -> Response:
    """200 with a resource collection; `members` are paths or, after the collection's path, ids."""
    return Response(200, tree.collection(path, kind, name, members)[1])


def no_content() -> Response:
    """204."""
    return Response(204)
