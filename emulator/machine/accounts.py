"""Credentials of one BMC: checking them, changing them, locking the account."""

import hmac
import time

from emulator.machine.board import Board


class AccountLock:
    """One administrator account, as the persona's policy says."""

    def __init__(self, board: Board) -> None:
        """Nobody has failed yet; a restart forgets a lock-out, as BMCs do."""
        self._board = board
        self._policy = board.persona.accounts
        self._failures = 0
        self._last_failure = 0.0
        self._locked_until = 0.0

    @property
    def password(self) -> str:
        """The password that is accepted."""
        fault = self._board.faults.peek("wrong-password")
        return str(fault["password"]) if fault else self._board.state.password

    @property
    def locked(self) -> bool:
        """Whether the account refuses even the right password now."""
        return time.monotonic() < self._locked_until

    @property
    def change_required(self) -> bool:
        """Whether the factory password must be changed before anything else is allowed."""
        return self._policy.change_required and not self._board.state.password_changed

    def check(self, username: str, password: str) -> bool:
        """Whether these credentials are accepted; counts failures and locks the account."""
        state = self._board.state
        right = hmac.compare_digest(f"{username}\n{password}".encode(), f"{state.username}\n{self.password}".encode())
        if right and not self.locked:
            self._failures = 0
            return True
        state.failed_logins += 1
        if not self.locked:
            self._count_failure()
        return False

    def change(self, password: str) -> None:
        """Set a new password; sessions stay open. A wrong one of before is gone."""
        self._board.faults.clear("wrong-password")
        self._board.state.password = password
        self._board.state.password_changed = True
        self._board.save()

    def unlock(self) -> None:
        """Forget failures, as a BMC does when it restarts."""
        self._failures = 0
        self._locked_until = 0.0

    def _count_failure(self) -> None:
        now = time.monotonic()
        if now - self._last_failure > self._board.clock.limit_seconds(self._policy.counter_reset_seconds):
            self._failures = 0
        self._last_failure = now
        self._failures += 1
        if self._policy.lockout_threshold and self._failures >= self._policy.lockout_threshold:
            self._failures = 0
            self._locked_until = now + self._board.clock.limit_seconds(self._policy.lockout_seconds)
