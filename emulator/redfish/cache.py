"""Answers to GET as bytes, kept until something happens to the machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from emulator.machine.machine import Machine

_MOST_BYTES = 256 * 2**20

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer with status 200; `open_to_anyone`: no credentials are needed for it."""

    body: bytes
    headers: Headers
    open_to_anyone: bool


@dataclass(slots=True)
class _OfMachine:
    revision: int
    answers: dict[str, Answer] = field(default_factory=dict)
    bytes: int = 0


class Cache:
    """The answers of all machines; all are forgotten when they become too many."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._machines: dict[str, _OfMachine] = {}
        self._bytes = 0

    def find(self, machine: Machine, key: str) -> Answer | None:
        """The answer to the request `key` while nothing has happened to `machine` since."""
        known = self._machines.get(machine.board.entry.address)
        return known.answers.get(key) if known and known.revision == machine.board.revision else None

    def keep(self, machine: Machine, key: str, answer: Answer) -> None:
        """Keep the answer to the request `key`."""
        if self._bytes > _MOST_BYTES:
            self._machines.clear()
            self._bytes = 0
        address, revision = machine.board.entry.address, machine.board.revision
        known = self._machines.get(address)
        if known is None or known.revision != revision:
            self._bytes -= known.bytes if known else 0
            known = self._machines[address] = _OfMachine(revision)
        known.answers[key] = answer
        known.bytes += len(answer.body)
        self._bytes += len(answer.body)
