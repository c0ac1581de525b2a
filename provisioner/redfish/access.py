"""How everything reaches one BMC: within its lease, logged in, once more after a lost session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from sushy.exceptions import SushyError

from provisioner.capabilities.leases import HeldLease
from provisioner.errors import BmcError, BmcRefused, BmcUnreachable, LoginRefused, ResourceGone
from provisioner.models.secret import Credentials
from provisioner.redfish.answer import Answer, document_of, judge
from provisioner.redfish.channel import Channel
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.login import Login
from provisioner.redfish.paced_file import PacedFile
from provisioner.redfish.redact import redacted
from provisioner.redfish.retry import RetryRule
from provisioner.redfish.snapshot import Document, HeldAnswer
from provisioner.redfish.threads import Threads
from provisioner.redfish.transport import Content, Transport

T = TypeVar("T")
NOT_OFFERED = 501
EMPTY_IS_FINE = frozenset({202, 204})


class Access:
    """One caller's way to one BMC while it holds the lease. `requests` counts the GETs of the asyncio side."""

    def __init__(
        self,
        channel: Channel,
        lease: HeldLease,
        login: Login,
        *,
        transport: Transport,
        threads: Threads,
        rule: RetryRule,
    ) -> None:
        """Parts that outlive the caller; `lease` does not."""
        self.channel = channel
        self.requests = 0
        self._lease = lease
        self._login = login
        self._transport = transport
        self._threads = threads
        self._rule = rule
        self._renewal = asyncio.Lock()

    @property
    def bmc(self) -> str:
        """As messages name it."""
        return str(self.channel.address)

    async def log_in(self, credentials: Credentials) -> None:
        """Be logged in with `credentials`."""
        await self._login.ensure(self.channel, self._lease, credentials)

    async def log_out(self) -> None:
        """End the session; the next call logs in again with the channel's credentials."""
        await self._login.log_out(self.channel)

    async def get(self, path: str) -> Answer:
        """A judged GET, retried, over asyncio."""
        return await self._rule.read_async(lambda: self._logged_in(lambda: self._get(path)))

    async def document(self, path: str) -> Document:
        """The JSON object that `path` answers."""
        return document_of(self.bmc, path, await self.get(path))

    async def essential(self, path: str) -> Document:
        """As `document`, for what every BMC has: one that answers 404 there is starting, or was updated."""
        try:
            return await self.document(path)
        except ResourceGone as error:
            self.channel.layout = None
            raise BmcUnreachable(self.bmc, f"does not have its own {path} now") from error

    async def get_any(self, path: str) -> Answer:
        """As `get`, but an empty body is fine: monitors of tasks answer 202 and 204 with nothing."""
        return await self._rule.read_async(lambda: self._logged_in(lambda: self._get(path, empty=True)))

    async def act(self, work: Callable[[SingleShotConnector], T]) -> T:
        """Run `work` with sushy in a thread. It may read; what it writes goes out once.

        Raises `BmcRefused` where sushy finds that the BMC does not offer what is asked.
        """

        async def attempt() -> T:
            async with self._lease.request():
                try:
                    return await self._threads.run(lambda: work(self.channel.connector))
                except SushyError as error:
                    if isinstance(error.__cause__, BmcError):
                        raise error.__cause__ from None
                    raise BmcRefused(self.bmc, str(error), NOT_OFFERED) from error

        return await self._logged_in(attempt)

    def file(self, path: Path, content_type: str) -> PacedFile:
        """The content of a push. Raises OSError."""
        return PacedFile(path, content_type, self._transport.uploads)

    async def push(self, path: str, content: Callable[[], Content], headers: Mapping[str, str] | None = None) -> Answer:
        """POST a form or a file, streamed."""

        async def attempt() -> Answer:
            async with self._lease.request():
                fields = {**self.channel.headers(), **(headers or {})}
                answer = await self._transport.write(
                    self.channel.address, self.channel.trust, "POST", path, headers=fields, content=content()
                )
            judge(self.bmc, "POST", path, answer)
            return answer

        return await self._logged_in(attempt)

    async def _get(self, path: str, *, empty: bool = False) -> Answer:
        async with self._lease.request():
            self.requests += 1
            answer = await self._transport.read(
                self.channel.address, self.channel.trust, path, headers=self.channel.headers()
            )
        if empty and answer.status_code in EMPTY_IS_FINE and not answer.content.strip():
            return answer
        if answer.status_code >= HTTPStatus.MULTIPLE_CHOICES:
            judge(self.bmc, "GET", path, answer)
        document = document_of(self.bmc, path, answer)
        return HeldAnswer(answer.status_code, answer.headers, answer.content, document)

    async def _logged_in(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Run `attempt`; when the BMC has lost the session, log in once more: a 401 was not acted on."""
        used = await self._renewed(stale=None)
        try:
            with redacted(*self.channel.secrets()):
                async with self._counted():
                    return await attempt()
        except LoginRefused:
            if self.channel.basic:
                raise
        await self._renewed(stale=used)
        try:
            with redacted(*self.channel.secrets()):
                return await attempt()
        except LoginRefused as error:  # the login itself worked: the BMC has restarted again, or is still starting
            raise BmcUnreachable(self.bmc, f"lost the session that it had just opened: {error.message}") from error

    async def _renewed(self, stale: object) -> object:
        async with self._renewal:
            channel = self.channel
            if stale is not None and channel.token is stale:
                channel.forget()
            if not channel.logged_in and channel.credentials:
                await self.log_in(channel.credentials)
            return channel.token

    def _counted(self) -> AbstractAsyncContextManager[None]:
        """With basic authentication every request is a login."""
        credentials = self.channel.credentials
        if self.channel.basic and credentials:
            return self._lease.login(credentials.username)
        return nullcontext()
