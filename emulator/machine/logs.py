"""The logs of one machine: the last records of each, kept beside its state where states are kept."""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import structlog

from emulator.machine.board import Board
from emulator.machine.events import Notice
from emulator.persona.service import Log
from emulator.tree.logs import log_path

_STARTED = time.time()
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Record:
    """One entry: what happened, and its number in this log. `data`: the file that belongs to it, by its name."""

    id: int
    notice: Notice
    data: str = ""


class Logs:
    """Costs nothing while nothing happens: a log that nobody wrote to or cleared holds its first record only."""

    __slots__ = ("_board", "_records", "_unwritten")

    def __init__(self, board: Board) -> None:
        """Read when they are first needed."""
        self._board = board
        self._records: dict[str, deque[Record]] | None = None
        self._unwritten: list[bytes] = []

    @property
    def services(self) -> tuple[Log, ...]:
        """The logs that there are."""
        return self._board.persona.logs

    def records(self, log: Log) -> list[Record]:
        """The records of a log, oldest first; there is always one."""
        return list(self._all().get(log.key) or self._first(log, "LogStarted", _STARTED))

    def find(self, log: Log, identity: str) -> Record | None:
        """The record of that id."""
        return next((record for record in self.records(log) if str(record.id) == identity), None)

    def full(self, log: Log) -> bool:
        """Whether the log takes nothing more until it is cleared (a fault)."""
        return self._board.faults.peek("log-full") is not None and log.key in self._all()

    def record(self, notice: Notice) -> None:
        """Write a notice to each log that takes its topic."""
        if notice.topic:
            for log in self.services:
                if notice.topic in log.takes and not self.full(log):
                    self.add(log, notice)

    def add(self, log: Log, notice: Notice, data: str = "") -> Record:
        """Write a notice to one log; the oldest record makes room when there is none."""
        records = self._all().get(log.key)
        if records is None:
            records = self._all()[log.key] = deque(self._first(log, "LogStarted", _STARTED), maxlen=log.records)
            self._keep(log, records[0])
        record = Record(records[-1].id + 1, notice, data)
        records.append(record)
        self._keep(log, record)
        self._board.touch()
        return record

    def clear(self, log: Log) -> None:
        """Forget all records; that this was done is the first new one."""
        self._all()[log.key] = deque(self._first(log, "LogCleared", time.time()), maxlen=log.records)
        self._rewrite()
        self._board.touch()

    def _first(self, log: Log, key: str, at: float) -> Iterator[Record]:
        entries = self._board.document(f"{log_path(self._board.persona, log)}/Entries") or {}
        known = (str(entry.get("Id") or entry["@odata.id"].rpartition("/")[2]) for entry in entries.get("Members", ()))
        recorded = max((int(identity) for identity in known if identity.isdigit()), default=0)
        yield Record(recorded + 1, Notice(0, f"OpenBMC.{key}", (log.id,), "", at, "bmc"))

    def _all(self) -> dict[str, deque[Record]]:
        if self._records is None:
            self._records = {}
            if self._board.folder.keeps and self._path.exists():
                self._read(self._records)
        return self._records

    @property
    def _path(self) -> Path:
        return self._board.directory / "logs.jsonl"

    def _read(self, found: dict[str, deque[Record]]) -> None:
        known = {log.key: log for log in self.services}
        try:
            for line in self._path.read_bytes().splitlines():
                key, record = _unpacked(line)
                if key in known:
                    found.setdefault(key, deque(maxlen=known[key].records)).append(record)
        except (OSError, ValueError, TypeError, KeyError) as error:
            _log.error("logs not read", bmc=self._board.entry.name, reason=str(error))

    def _keep(self, log: Log, record: Record) -> None:
        if not self._board.folder.keeps:
            return
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self._append)
        self._unwritten.append(_packed(log.key, record))

    def _append(self) -> None:
        lines, self._unwritten = self._unwritten, []
        most = sum(2 * log.records for log in self.services) * 500  # bytes; a record has about 250
        try:
            if self._path.exists() and self._path.stat().st_size > most:
                self._rewrite()
                return
            self._board.directory.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.writelines(lines)
        except OSError as error:
            _log.error("logs not kept", bmc=self._board.entry.name, reason=str(error))

    def _rewrite(self) -> None:
        self._unwritten = []
        if not self._board.folder.keeps:
            return
        self._board.directory.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            for key, records in self._all().items():
                file.writelines(_packed(key, record) for record in records)
        new.replace(self._path)


def _packed(key: str, record: Record) -> bytes:
    notice: dict[str, Any] = {name: value for name, value in asdict(record.notice).items() if value}
    return orjson.dumps([key, record.id, record.data, notice]) + b"\n"


def _unpacked(line: bytes) -> tuple[str, Record]:
    key, identity, data, notice = orjson.loads(line)
    arguments = tuple(notice.pop("arguments", ()))
    origin, number = notice.pop("origin", ""), notice.pop("number", 0)
    return key, Record(identity, Notice(number=number, arguments=arguments, origin=origin, **notice), data)
