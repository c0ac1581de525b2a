"""So many refused logins in a row and no more, across restarts and whoever asks: no account gets locked by us."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.login_failures import LoginFailures
from provisioner.errors import LoginBudgetSpent, LoginRefused


class LoginBudget:
    """One for the site; it counts per BMC and account."""

    def __init__(self, failures: LoginFailures, clock: Clock, most: int) -> None:
        """`most` refusals in a row are allowed."""
        self._failures = failures
        self._clock = clock
        self._most = most

    @asynccontextmanager
    async def login(self, bmc: str, username: str) -> AsyncIterator[None]:
        """One login. Counts a `LoginRefused` from the body; an orderly end sets the count back to 0.

        Raises `LoginBudgetSpent` before the body runs. Any other error says nothing about the password: not counted.
        """
        count = await self._failures.count(bmc, username)
        if count >= self._most:
            raise LoginBudgetSpent(bmc, f"{count} logins as {username} were refused; one more could lock the account")
        try:
            yield
        except LoginRefused:
            await self._failures.record(bmc, username, self._clock.now())
            raise
        if count:
            await self._failures.clear(bmc, username)
