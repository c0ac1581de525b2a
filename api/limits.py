"""How much a request may hold."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_BYTES = 2**20
BODY_BYTES_OF = {
    "/v1/agent/heartbeats": 2**12,
    "/v1/agent/register": 2**13,
    "/v1/agent/results": 2**17,
}
"""A result's evidence is 16 KiB, of which JSON may make six times as much."""


class BodyLimit:
    """Ends the reading of a body that is too long with 413; what is not read is not kept."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = BODY_BYTES_OF.get(scope["path"], BODY_BYTES)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit or (declared.isdigit() and int(declared) > limit):
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {limit} bytes")
            return message

        await self._app(scope, limited, send)
