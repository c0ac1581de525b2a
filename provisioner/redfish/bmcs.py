"""The way to all BMCs: a channel each, one pool of connections and one of threads."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.leases import HeldLease, Leases
from provisioner.capabilities.login_failures import PinnedCertificates
from provisioner.errors import BmcError, CertificateChanged
from provisioner.models.inventory import Identity
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials
from provisioner.redfish.access import Access
from provisioner.redfish.answer import document_of, judge
from provisioner.redfish.bmc import RedfishBmc
from provisioner.redfish.channel import Channel
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.expand import ExpandVerdicts
from provisioner.redfish.login import ROOT, Login
from provisioner.redfish.retry import RetryRule
from provisioner.redfish.session import SingleShotSession
from provisioner.redfish.threads import Threads
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import Tls, TlsPolicy
from provisioner.redfish.transport import Transport
from provisioner.upload_limit import UploadLimit

CLOSING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RedfishSettings:
    """What a site may want otherwise."""

    tls: TlsPolicy = field(default_factory=TlsPolicy)
    timeouts: Timeouts = field(default_factory=Timeouts)
    threads: int = 32
    """BMCs that can be acted on at the same time; reading is not bounded by it."""
    idle_session: timedelta = timedelta(minutes=2)
    """A session that nobody used for so long is deleted: BMCs have few. Real time."""


class RedfishBmcs:
    """Implements `Bmcs`. Belongs to the event loop that it is first used in."""

    def __init__(
        self,
        leases: Leases,
        pins: PinnedCertificates,
        clock: Clock,
        *,
        settings: RedfishSettings | None = None,
        uploads: UploadLimit | None = None,
    ) -> None:
        """Connect to nothing yet. sushy logs request bodies for debugging: that is turned off, they hold secrets."""
        logging.getLogger("sushy").setLevel(logging.ERROR)
        self._leases = leases
        self._settings = settings = settings or RedfishSettings()
        self._rule = RetryRule(clock)
        self._tls = Tls(settings.tls, pins, settings.timeouts.connect_seconds)
        self._transport = Transport(settings.timeouts, uploads)
        self._threads = Threads(settings.threads)
        self._login = Login(self._transport, self._rule)
        self._verdicts = ExpandVerdicts()
        self._channels: dict[BmcAddress, Channel] = {}
        self._timers: dict[BmcAddress, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self, address: BmcAddress, credentials: Credentials) -> AsyncIterator[RedfishBmc]:
        """Hold the BMC's lease, logged in as `credentials` say. Not re-entrant: it would wait for itself."""
        async with self._leases.hold(address) as lease:
            timer = self._timers.pop(address, None)
            if timer:
                timer.cancel()
            try:
                channel = await self._channel(address, lease)
                access = Access(
                    channel, lease, self._login, transport=self._transport, threads=self._threads, rule=self._rule
                )
                await access.log_in(credentials)
                yield RedfishBmc(access, self._verdicts)
            except CertificateChanged:
                self._channels.pop(address, None)  # a person may have said by the next time that it is right
                raise
            finally:
                self._end_later(address)

    async def probe(self, address: BmcAddress) -> Identity | None:
        """The service root without credentials: at most 64 KB, no redirects, one try; None when it is no Redfish."""
        trust = self._tls.for_a_look()
        try:
            async with self._leases.look(address):
                answer = await self._transport.look(address, trust, ROOT)
            judge(str(address), "GET", ROOT, answer)
            root = document_of(str(address), ROOT, answer)
        except BmcError:
            return None
        if "RedfishVersion" not in root and "Systems" not in root:
            return None
        return Identity(
            serial="",
            uuid=str(root.get("UUID") or "").lower(),
            manufacturer=str(root.get("Vendor") or ""),
            model=str(root.get("Product") or ""),
        )

    async def close(self) -> None:
        """Log out everywhere, at most a hundred at once and half a minute in all, and close the connections."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        gate = asyncio.Semaphore(100)

        async def end(channel: Channel) -> None:
            async with gate:
                await self._login.log_out(channel)

        with contextlib.suppress(TimeoutError):  # BMCs that do not answer end our sessions by themselves
            async with asyncio.timeout(CLOSING_SECONDS), asyncio.TaskGroup() as group:
                for channel in self._channels.values():
                    group.create_task(end(channel))
        self._channels.clear()
        await self._transport.close()
        self._threads.close()

    async def _channel(self, address: BmcAddress, lease: HeldLease) -> Channel:
        channel = self._channels.get(address)
        if channel is None:

            async def first_contact() -> Channel:
                async with lease.request():
                    trust = await self._tls.trust(address)
                session = SingleShotSession(address, trust, self._settings.timeouts)
                connector = SingleShotConnector(address, session, trust.scheme, self._rule)
                return Channel(address, trust, session, connector)

            channel = await self._rule.read_async(first_contact)
            self._channels[address] = channel
        return channel

    def _end_later(self, address: BmcAddress) -> None:
        seconds = self._settings.idle_session.total_seconds()
        self._timers[address] = asyncio.get_running_loop().call_later(seconds, self._end_soon, address)

    def _end_soon(self, address: BmcAddress) -> None:
        self._timers.pop(address, None)
        task = asyncio.create_task(self._end(address))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, address: BmcAddress) -> None:
        """Under the lease; somebody who came first keeps the session, and a new timer will run after him."""
        try:
            async with self._leases.hold(address):
                channel = self._channels.get(address)
                if channel and address not in self._timers:
                    del self._channels[address]
                    await self._login.log_out(channel)
        except BmcError:  # somebody holds it for long: his end starts the timer anew
            return
