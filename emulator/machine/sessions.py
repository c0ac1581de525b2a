"""Sessions of one BMC: few, and lost when it restarts."""

import secrets
import time
from dataclasses import dataclass

from emulator.machine.board import Board
from emulator.tree.places import SESSIONS

_SHORTEST_SECONDS = 10.0  # however fast the clock runs, a client must be able to use a session


@dataclass(slots=True)
class Session:
    """One login; `used` is a monotonic time."""

    id: str
    token: str
    username: str
    used: float


class Sessions:
    """The open sessions, by token."""

    def __init__(self, board: Board) -> None:
        """None is open."""
        self._board = board
        self._by_token: dict[str, Session] = {}
        self._created = 0

    def __len__(self) -> int:
        """How many are open."""
        self._expire()
        return len(self._by_token)

    def open(self, username: str) -> Session | None:
        """A new session, or None when the BMC has no room for another one."""
        fault = self._board.faults.peek("session-limit")
        limit = fault["limit"] if fault else self._board.persona.sessions.limit
        if len(self) >= limit:
            self._board.faults.take("session-limit")
            return None
        self._created += 1
        session = Session(str(self._created), secrets.token_hex(16), username, time.monotonic())
        self._by_token[session.token] = session
        self._tell("ResourceCreated", session)
        return session

    def find(self, token: str) -> Session | None:
        """The session of `token` when it is still open; using it keeps it open."""
        session = self._by_token.get(token)
        if session is None or self._old(session):
            return None
        if self._board.faults.take("sessions-forgotten"):
            self.clear()
            return None
        session.used = time.monotonic()
        return session

    def listing(self) -> list[Session]:
        """The open sessions, oldest first."""
        self._expire()
        return list(self._by_token.values())

    def close(self, session_id: str) -> bool:
        """Close one; False when there is none of that id."""
        for token, session in self._by_token.items():
            if session.id == session_id:
                del self._by_token[token]
                self._tell("ResourceRemoved", session)
                return True
        return False

    def close_of(self, username: str) -> None:
        """Close those of one user."""
        for session in [session for session in self._by_token.values() if session.username == username]:
            del self._by_token[session.token]

    def clear(self) -> None:
        """Close all of them."""
        self._by_token.clear()

    def _tell(self, key: str, session: Session) -> None:
        self._board.events.publish(f"ResourceEvent.{key}", origin=f"{SESSIONS}/{session.id}")

    def _expire(self) -> None:
        for token in [token for token, session in self._by_token.items() if self._old(session)]:
            del self._by_token[token]

    def _old(self, session: Session) -> bool:
        early = self._board.faults.peek("sessions-expire-early")
        if early:
            return time.monotonic() - session.used > float(early["seconds"])
        limit = self._board.clock.limit_seconds(self._board.persona.sessions.timeout_seconds)
        return time.monotonic() - session.used > max(limit, _SHORTEST_SECONDS)
