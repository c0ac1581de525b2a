"""Open streams of events (Server-Sent Events); each is a subscription while it is open, and none survives a restart."""

import asyncio
from dataclasses import dataclass, field

from emulator.machine.board import Board
from emulator.machine.event_document import Report, event_bytes, report_bytes
from emulator.machine.event_filter import Wanted, type_of, wants, wants_report
from emulator.machine.events import Notice

_MOST = 256  # what a slow reader has not taken yet; beyond that the oldest is lost


@dataclass(slots=True)
class Stream:
    """One reader. The queue holds whole frames; an empty one ends the stream."""

    id: str
    wanted: Wanted
    reader: str
    sent: int = 0
    frames: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(_MOST))

    def put(self, frame: bytes) -> None:
        """Hand a frame to the reader."""
        if self.frames.full():
            self.frames.get_nowait()
        self.frames.put_nowait(frame)


class Streams:
    """All that are open."""

    __slots__ = ("_board", "_open")

    def __init__(self, board: Board) -> None:
        """None is."""
        self._board = board
        self._open: dict[str, Stream] = {}

    def listing(self) -> list[Stream]:
        """Those that are open."""
        return list(self._open.values())

    def find(self, identity: str) -> Stream | None:
        """The stream of that id."""
        return self._open.get(identity)

    def open(self, identity: str, wanted: Wanted, reader: str, after: int | None = None) -> Stream:
        """A new stream; `after`: it begins with what happened after the event of that number and is still known."""
        stream = self._open[identity] = Stream(identity, wanted, reader)
        self._board.touch()
        if after is not None:
            for notice in self._board.events.after(after):
                self._offer(stream, notice)
        return stream

    def close(self, identity: str) -> None:
        """End one; nothing happens when it is not open."""
        stream = self._open.pop(identity, None)
        if stream:
            stream.put(b"")
            self._board.touch()

    def close_all(self) -> None:
        """The BMC restarts."""
        for identity in list(self._open):
            self.close(identity)

    def offer(self, notice: Notice) -> None:
        """Hand a notice to everybody who wants it."""
        for stream in self.listing():
            self._offer(stream, notice)

    def offer_report(self, definition: str, report: Report) -> None:
        """Hand a metric report to everybody who wants it."""
        for stream in self.listing():
            if wants_report(stream.wanted, definition):
                stream.put(_frame(str(report["Id"]), report_bytes(report, "")))

    def wants_reports(self) -> bool:
        """Whether somebody waits for metric reports."""
        return any(stream.wanted.get("EventFormatType") == "MetricReport" for stream in self._open.values())

    def _offer(self, stream: Stream, notice: Notice) -> None:
        if not wants(stream.wanted, notice, type_of(self._board, notice.origin)):
            return
        fault = self._board.faults.peek("sse-closes-silently")
        if fault and stream.sent >= fault["events"]:
            self._board.faults.take("sse-closes-silently")
            self.close(stream.id)
            return
        if self._board.faults.take("event-lost"):
            return
        stream.sent += 1
        frame = _frame(str(notice.number), event_bytes(self._board, notice, ""))
        stream.put(frame)
        if self._board.faults.take("event-delivered-twice"):
            stream.put(frame)


def _frame(identity: str, body: bytes) -> bytes:
    return b"id: " + identity.encode() + b"\ndata: " + body + b"\n\n"
