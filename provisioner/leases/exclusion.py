"""One writer per BMC: among the tasks of this process by a lock, among processes by a row that must be renewed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from provisioner.capabilities.login_failures import WriteLeases
from provisioner.errors import BmcUnreachable
from provisioner.leases.limits import LeaseSettings

POLL_SECONDS = 0.5
RENEWALS = 3
"""Within the time that a lease lasts."""


class Exclusion:
    """For one BMC. `lost` is set while somebody holds it who has lost it to another process."""

    def __init__(self, bmc: str, settings: LeaseSettings, shared: WriteLeases | None, holder: str) -> None:
        """`holder` names this process in `shared`, which is None where there is only one process."""
        self.lost = False
        self._bmc = bmc
        self._settings = settings
        self._shared = shared
        self._holder = holder
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Be the only one. Raises `BmcUnreachable` when nobody lets go within the patience."""
        try:
            async with asyncio.timeout(self._settings.patience.total_seconds()):
                await self._lock.acquire()
        except TimeoutError as error:
            raise BmcUnreachable(self._bmc, "somebody else has been acting on it all the time") from error
        try:
            async with self._among_processes():
                yield
        finally:
            self._lock.release()

    @asynccontextmanager
    async def _among_processes(self) -> AsyncIterator[None]:
        if self._shared is None:
            yield
            return
        await self._acquire(self._shared)
        renewing = asyncio.create_task(self._renew(self._shared))
        try:
            yield
        finally:
            renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await renewing
            await self._shared.release(self._bmc, self._holder)

    async def _acquire(self, shared: WriteLeases) -> None:
        seconds = self._settings.shared_for.total_seconds()
        try:
            async with asyncio.timeout(self._settings.patience.total_seconds()):
                # The other process cannot wake us.
                while not await shared.acquire(self._bmc, self._holder, seconds):  # noqa: ASYNC110 - as just said
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            raise BmcUnreachable(self._bmc, "another process has been acting on it all the time") from error
        self.lost = False

    async def _renew(self, shared: WriteLeases) -> None:
        """A renewal that fails or comes too late ends our right to send anything."""
        seconds = self._settings.shared_for.total_seconds()
        while True:
            await asyncio.sleep(seconds / RENEWALS)
            try:
                async with asyncio.timeout(seconds / RENEWALS):
                    self.lost = not await shared.acquire(self._bmc, self._holder, seconds)
            except Exception:  # noqa: BLE001 - whatever the database says, the lease is no longer ours to rely on
                self.lost = True
