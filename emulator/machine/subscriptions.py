"""Subscriptions to the events of one machine; kept with its state, unlike open streams."""

from collections.abc import Mapping
from typing import Any

import aiohttp

from emulator.machine.board import Board
from emulator.machine.event_document import Report, event_bytes, report_bytes
from emulator.machine.event_filter import type_of, wants, wants_report
from emulator.machine.events import Notice
from emulator.machine.outbox import Address, Outbox
from emulator.tree.places import EVENT_SERVICE, SUBSCRIPTIONS

ATTEMPTS, PAUSE = 3, 30


class Subscriptions:
    """Costs nothing while nobody has subscribed. A record holds the properties of its EventDestination."""

    __slots__ = ("_board", "_client", "_held", "_last", "_outboxes")

    def __init__(self, board: Board, client: aiohttp.ClientSession) -> None:
        """As the board remembers them; `client` sends for all machines."""
        self._board = board
        self._client = client
        self._outboxes: dict[str, Outbox] = {}
        self._last = 0
        self._held: Notice | None = None

    @property
    def records(self) -> Mapping[str, dict[str, Any]]:
        """The subscriptions by id."""
        return self._board.state.subscriptions

    def new_id(self) -> str:
        """An id that no subscription has had since the process began; streams take theirs here as well."""
        known = (int(identity) for identity in self.records if identity.isdigit())
        self._last = max(self._last, *known, 0) + 1
        while self._board.document(f"{SUBSCRIPTIONS}/{self._last}"):  # of a recorded server
            self._last += 1
        return str(self._last)

    def add(self, record: Mapping[str, Any]) -> str:
        """Remember a subscription; returns its id."""
        identity = self.new_id()
        self._board.state.subscriptions[identity] = dict(record)
        self._board.save()
        return identity

    def change(self, identity: str, changes: Mapping[str, Any]) -> None:
        """Write some properties."""
        self._board.state.subscriptions[identity].update(changes)
        self._board.save()

    def remove(self, identity: str) -> None:
        """Forget one and what waits for it."""
        del self._board.state.subscriptions[identity]
        self._close(identity)
        self._board.save()

    def offer(self, notice: Notice) -> None:
        """Send a notice to everybody who wants it; faults lose, repeat and reorder."""
        if not self.records or not self.enabled:
            return
        faults = self._board.faults
        if faults and faults.take("event-lost"):
            return
        if faults and self._held is None and faults.take("events-out-of-order"):
            self._held = notice
            return
        self._send(notice)
        if faults and faults.take("event-delivered-twice"):
            self._send(notice)
        if self._held:
            held, self._held = self._held, None
            self._send(held)

    def offer_report(self, definition: str, report: Report) -> None:
        """Send a metric report to everybody who wants it."""
        for identity, record in list(self.records.items()):
            if self._active(record) and wants_report(record, definition):
                self._put(identity, record, report_bytes(report, str(record.get("Context") or "")))

    def wants_reports(self) -> bool:
        """Whether somebody waits for metric reports."""
        return self.enabled and any(
            self._active(record) and record.get("EventFormatType") == "MetricReport" for record in self.records.values()
        )

    @property
    def enabled(self) -> bool:
        """ServiceEnabled of the event service."""
        return self._setting("ServiceEnabled") is not False

    def stop(self) -> None:
        """Send nothing more."""
        for identity in list(self._outboxes):
            self._close(identity)
        self._held = None

    def abort(self) -> None:
        """The BMC restarts: what waited is lost, and with a fault the subscriptions too."""
        self.stop()
        if self.records and self._board.faults.take("subscriptions-lost-at-reset"):
            self._board.state.subscriptions.clear()
            self._board.save()

    def _send(self, notice: Notice) -> None:
        kind = type_of(self._board, notice.origin)
        for identity, record in list(self.records.items()):
            if self._active(record) and wants(record, notice, kind):
                self._put(identity, record, event_bytes(self._board, notice, str(record.get("Context") or "")))

    def _put(self, identity: str, record: Mapping[str, Any], body: bytes) -> None:
        outbox = self._outboxes.get(identity)
        if outbox is None:
            outbox = Outbox(self._client, self._board.clock, lambda: self._give_up(identity))
            self._outboxes[identity] = outbox
        outbox.put(self._address(record), body)

    def _address(self, record: Mapping[str, Any]) -> Address:
        given = record.get("HttpHeaders") or ()
        headers = tuple((name, str(value)) for header in given for name, value in header.items())
        return Address(
            str(record["Destination"]),
            headers,
            bool(record.get("VerifyCertificate", False)),
            int(self._setting("DeliveryRetryAttempts") or ATTEMPTS),
            float(self._setting("DeliveryRetryIntervalSeconds") or PAUSE),
            str(record.get("DeliveryRetryPolicy") or "TerminateAfterRetries"),
        )

    def _give_up(self, identity: str) -> None:
        record = self.records.get(identity)
        if record is None:
            return
        if record.get("DeliveryRetryPolicy") == "SuspendRetries":
            self.change(identity, {"Suspended": True})
        else:
            self.remove(identity)

    def _close(self, identity: str) -> None:
        outbox = self._outboxes.pop(identity, None)
        if outbox:
            outbox.close()

    def _active(self, record: Mapping[str, Any]) -> bool:
        return not record.get("Suspended", False)

    def _setting(self, name: str) -> Any:
        return self._board.state.written.get(EVENT_SERVICE, {}).get(name)
