"""The accounts of one BMC: checking credentials, changing them, locking."""

import hmac
import time
from dataclasses import dataclass

from emulator.machine.board import Board
from emulator.tree import places


@dataclass(slots=True)
class Account:
    """One account; what follows `change_required` is forgotten when the BMC restarts."""

    id: str
    username: str
    password: str
    role: str = "Administrator"
    enabled: bool = True
    change_required: bool = False
    failures: int = 0
    last_failure: float = 0.0
    locked_until: float = 0.0

    @property
    def locked(self) -> bool:
        """Whether it refuses even the right password now."""
        return time.monotonic() < self.locked_until


class Accounts:
    """All accounts; the first one is the administrator of the factory, which cannot be removed."""

    def __init__(self, board: Board) -> None:
        """As the board remembers them; nobody has failed yet."""
        self._board = board
        self._policy = board.persona.accounts
        state = board.state
        factory = Account(self._policy.id, state.username, state.password)
        factory.change_required = self._policy.change_required and not state.password_changed
        more = (Account(**record) for record in state.more_accounts)
        self._all = {account.id: account for account in (factory, *more)}

    @property
    def factory(self) -> Account:
        """The administrator that the BMC came with."""
        return self._all[self._policy.id]

    @property
    def factory_password(self) -> str:
        """The password that the factory's account accepts now."""
        fault = self._board.faults.peek("wrong-password")
        return str(fault["password"]) if fault else self.factory.password

    def listing(self) -> list[Account]:
        """All of them, the factory's first."""
        return list(self._all.values())

    def find(self, identity: str) -> Account | None:
        """The account of that id."""
        return self._all.get(identity)

    def named(self, username: str) -> Account | None:
        """The account of that user name."""
        return next((account for account in self._all.values() if account.username == username), None)

    def check(self, username: str, password: str) -> Account | None:
        """The account when these credentials are accepted; else None: counts failures and locks the account."""
        account = self.named(username)
        if account and account.enabled and not account.locked and self._right(account, password):
            account.failures = 0
            return account
        self._board.state.failed_logins += 1
        origin = f"{places.ACCOUNTS}/{account.id}" if account else places.SESSION_SERVICE
        self._board.events.publish("OpenBMC.InvalidLoginAttempted", "Redfish", origin=origin, topic="bmc")
        if account and not account.locked:
            self._count_failure(account)
        return None

    def would_accept(self, username: str, password: str) -> bool:
        """Whether these credentials are right; nothing is counted."""
        account = self.named(username)
        return account is not None and account.enabled and not account.locked and self._right(account, password)

    def create(self, username: str, password: str, role: str) -> Account | None:
        """A new account, or None when there is no room for another one."""
        numbers = (str(number) for number in range(1, self._policy.slots + 2))
        identity = next(number for number in numbers if number not in self._all)
        if len(self._all) >= self._policy.slots:
            return None
        account = self._all[identity] = Account(identity, username, password, role)
        self.store()
        return account

    def delete(self, account: Account) -> None:
        """Remove it."""
        del self._all[account.id]
        self.store()

    def set_password(self, account: Account, password: str) -> None:
        """Set a new password; sessions stay open. A wrong one of before is gone."""
        account.password = password
        account.change_required = False
        if account is self.factory:
            self._board.faults.clear("wrong-password")
            self._board.state.password_changed = True
        self.store()

    def store(self) -> None:
        """Remember the accounts; call it after each change."""
        state, factory = self._board.state, self.factory
        state.username, state.password = factory.username, factory.password
        fields = ("id", "username", "password", "role", "enabled", "change_required")
        others = (account for account in self._all.values() if account is not factory)
        state.more_accounts = [{name: getattr(account, name) for name in fields} for account in others]
        self._board.save()

    def unlock(self) -> None:
        """Forget failures, as a BMC does when it restarts."""
        for account in self._all.values():
            account.failures = 0
            account.locked_until = 0.0

    def _right(self, account: Account, password: str) -> bool:
        expected = self.factory_password if account is self.factory else account.password
        return hmac.compare_digest(password.encode(), expected.encode())

    def _count_failure(self, account: Account) -> None:
        now, clock = time.monotonic(), self._board.clock
        if now - account.last_failure > clock.limit_seconds(self._policy.counter_reset_seconds):
            account.failures = 0
        account.last_failure = now
        account.failures += 1
        early = self._board.faults.peek("account-locks-early")
        threshold = int(early["failures"]) if early else self._policy.lockout_threshold
        seconds = float(early["seconds"]) if early else self._policy.lockout_seconds
        if threshold and account.failures >= threshold:
            account.failures = 0
            account.locked_until = now + clock.limit_seconds(seconds)
            where = f"{places.ACCOUNTS}/{account.id}"
            self._board.events.publish("OpenBMC.AccountLocked", account.id, origin=where, topic="bmc")
            self._board.touch()
