"""Events as they are sent: by POST to a subscriber and over a stream (DSP0268, Event)."""

import datetime as dt
from typing import Any

import orjson

from emulator.machine.board import Board
from emulator.machine.events import Notice

_TYPE = "#Event.v1_9_0.Event"
Report = dict[str, Any]


def event_bytes(board: Board, notice: Notice, context: str) -> bytes:
    """The Event with one record, as JSON, or what a fault makes of it."""
    body = orjson.dumps(event_document(board, notice, context))
    return body[: len(body) // 2] if board.faults.take("event-malformed") else body


def event_document(board: Board, notice: Notice, context: str) -> dict[str, Any]:
    """The Event with one record."""
    number = str(int(notice.at) if board.faults.take("event-id-repeated") else notice.number)
    origin = "" if board.faults.peek("event-origin-absent") else notice.origin
    record: dict[str, Any] = {
        "MemberId": "0",
        "EventId": number,
        "EventTimestamp": moment(notice.at),
        "EventType": notice.event_type,
        "MessageId": notice.message_id,
        "Message": notice.message,
        "MessageArgs": list(notice.arguments),
        "MessageSeverity": notice.severity,
        "Severity": notice.severity,
        "Resolution": notice.resolution,
        **({"OriginOfCondition": {"@odata.id": origin}} if origin else {}),
    }
    document = {"@odata.type": _TYPE, "Id": number, "Name": "Event", "Events": [record]}
    return document if board.faults.peek("event-context-absent") else {**document, "Context": context}


def report_bytes(report: Report, context: str) -> bytes:
    """A MetricReport for one subscriber."""
    return orjson.dumps({**report, "Context": context})


def moment(at: float) -> str:
    """A time as DSP0266 writes it."""
    return dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
