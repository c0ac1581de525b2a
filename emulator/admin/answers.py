"""Answers of the admin API, and refusals, which say what would do."""

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from emulator.machine.machine import Machine


class Refused(Exception):
    """What is asked for cannot be done."""

    def __init__(self, status: int, reason: str) -> None:
        """`status` is that of HTTP."""
        super().__init__(reason)
        self.status = status


def answer(content: Any, status: int = 200) -> Response:
    """`content` as JSON."""
    return Response(orjson.dumps(content), status, media_type="application/json")


def machine_of(request: Request, machines: Mapping[str, Machine]) -> Machine:
    """The machine that the path names. Raises Refused."""
    name = request.path_params["name"]
    if name not in machines:
        raise Refused(404, f"no BMC is named {name}; GET /bmcs?fields=name lists them")
    return machines[name]


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that was sent; empty when nothing was. Raises Refused."""
    try:
        document = orjson.loads(await request.body() or b"{}")
    except orjson.JSONDecodeError as error:
        raise Refused(400, f"the body is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Refused(400, "the body is not a JSON object")
    return document
