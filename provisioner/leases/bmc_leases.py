"""The leases of all BMCs of a site, as `capabilities/leases.py` wants them."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.login_failures import LoginFailures, WriteLeases
from provisioner.errors import BmcUnreachable
from provisioner.leases.exclusion import Exclusion
from provisioner.leases.limits import LeaseSettings, Limits
from provisioner.leases.login_budget import LoginBudget
from provisioner.models.node import BmcAddress


class BmcLease:
    """Implements `HeldLease` for one BMC."""

    def __init__(self, bmc: str, limits: Limits, exclusion: Exclusion, budget: LoginBudget) -> None:
        """Made by `BmcLeases`, once per BMC."""
        self._bmc = bmc
        self._budget = budget
        self.limits = limits
        self.exclusion = exclusion

    @asynccontextmanager
    async def request(self) -> AsyncIterator[None]:
        """One request. Raises `BmcUnreachable` when the lease was lost to another process."""
        async with self.limits.request():
            if self.exclusion.lost:
                raise BmcUnreachable(self._bmc, "the lease was lost to another process")
            yield

    def login(self, username: str) -> AbstractAsyncContextManager[None]:
        """One login within the budget of the account."""
        return self._budget.login(self._bmc, username)


class BmcLeases:
    """Implements `Leases`. Belongs to one event loop."""

    def __init__(
        self,
        failures: LoginFailures,
        clock: Clock,
        *,
        shared: WriteLeases | None = None,
        settings: LeaseSettings | None = None,
    ) -> None:
        """`shared` is for several processes on one database; None where there is one."""
        self._settings = settings or LeaseSettings()
        self._shared = shared
        self._holder = uuid.uuid4().hex
        self._budget = LoginBudget(failures, clock, self._settings.refused_logins)
        self._site = asyncio.Semaphore(self._settings.requests_per_site)
        self._leases: dict[BmcAddress, BmcLease] = {}

    @asynccontextmanager
    async def hold(self, address: BmcAddress) -> AsyncIterator[BmcLease]:
        """Be the only one who acts on the BMC. Not re-entrant."""
        lease = self._of(address)
        async with lease.exclusion.hold():
            yield lease

    def look(self, address: BmcAddress) -> AbstractAsyncContextManager[None]:
        """One request without exclusion."""
        known = self._leases.get(address)
        # A scan looks at thousands of addresses that are no BMC: nothing of them is kept.
        return (known.limits if known else Limits(self._settings, self._site)).request()

    def _of(self, address: BmcAddress) -> BmcLease:
        lease = self._leases.get(address)
        if lease is None:
            bmc = str(address)
            exclusion = Exclusion(bmc, self._settings, self._shared, self._holder)
            lease = BmcLease(bmc, Limits(self._settings, self._site), exclusion, self._budget)
            self._leases[address] = lease
        return lease
