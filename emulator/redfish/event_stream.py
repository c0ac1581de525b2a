"""The stream of ServerSentEventUri: frames of events, and comments while nothing happens (DSP0266, SSE)."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote_plus

from emulator.machine.machine import Machine
from emulator.machine.streams import Stream
from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response

_KEEP_ALIVE_SECONDS = 15.0  # of the wall clock
_LISTS = {
    "RegistryPrefix": "RegistryPrefixes",
    "ResourceType": "ResourceTypes",
    "MessageId": "MessageIds",
    "OriginResource": "OriginResources",
    "MetricReportDefinition": "MetricReportDefinitions",
}
_TERM = re.compile(r"(\w+)\s+eq\s+(?:'([^']*)'|(\w+))")
_REST = re.compile(r"[\s()]|\b(?:and|or)\b")


def open_stream(request: Request) -> Response:
    """The answer that goes on until the reader or the BMC goes away. Raises RedfishError 400 for a bad filter."""
    machine = request.machine
    wanted = read_filter(request.query)
    last = request.headers.get("last-event-id", "")
    identity = machine.subscriptions.new_id()
    reader = f"https://{machine.board.entry.address}{request.path}"
    stream = machine.streams.open(identity, wanted, reader, int(last) if last.isdigit() else None)
    machine.wake()
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-store"}
    return Response(200, headers=headers, stream=_frames(machine, stream))


def read_filter(query: str) -> dict[str, Any]:
    """The properties of a subscription that `$filter` stands for: terms of one property are or-ed, others and-ed."""
    found: dict[str, Any] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if unquote_plus(name) == "$filter":
            _read_terms(unquote_plus(value), found)
    return found


def _read_terms(text: str, found: dict[str, Any]) -> None:
    if _REST.sub("", _TERM.sub("", text)):
        raise _refused(text)
    for name, quoted, bare in _TERM.findall(text):
        value = quoted or bare
        if name in _LISTS:
            found.setdefault(_LISTS[name], []).append(value)
        elif name == "EventFormatType" and value in ("Event", "MetricReport"):
            found[name] = value
        elif name == "SubordinateResources" and value in ("true", "false"):
            found[name] = value == "true"
        else:
            raise _refused(text)


def _refused(text: str) -> RedfishError:
    reason = f"The value '{text}' for the query parameter $filter is of a different format than it can accept."
    return RedfishError(400, "QueryParameterValueFormatError", reason, text, "$filter")


async def _frames(machine: Machine, stream: Stream) -> AsyncIterator[bytes]:
    try:
        yield b": the stream is open\n\n"
        while True:
            try:
                async with asyncio.timeout(_KEEP_ALIVE_SECONDS):  # wait_for may lose a cancellation (before 3.12)
                    frame = await stream.frames.get()
            except TimeoutError:
                yield b": still here\n\n"
                continue
            if not frame:
                return
            yield frame
    finally:
        machine.streams.close(stream.id)
