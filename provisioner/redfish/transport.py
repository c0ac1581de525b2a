"""The asyncio side: one aiohttp session for all BMCs, raw answers out."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import aiohttp
import orjson
import yarl
from aiohttp.client_proto import ResponseHandler

from provisioner.errors import AnswerLost, BmcError, BmcUnreachable, CertificateChanged
from provisioner.models.node import BmcAddress
from provisioner.redfish.answer import READS, REDIRECTS, Answer
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import Trust, authority
from provisioner.upload_limit import UploadLimit, unlimited

LARGEST_BODY_BYTES = 32 * 1024 * 1024
LARGEST_LOOK_BYTES = 64 * 1024
IDLE_SECONDS = 15.0
Content = aiohttp.FormData | aiohttp.Payload
"""What is pushed: a form, or a file as it is."""


class Transport:
    """Sends requests; who may send how many is the lease's business. Belongs to one event loop."""

    def __init__(self, timeouts: Timeouts, uploads: UploadLimit | None = None) -> None:
        """Open nothing yet. `uploads`: how fast files may leave."""
        self.uploads = uploads or unlimited()
        self._timeouts = timeouts
        self._kept: aiohttp.ClientSession | None = None
        self._single: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Close with the block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections."""
        await self.close()

    async def read(
        self,
        address: BmcAddress,
        trust: Trust,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One GET over a kept connection; a redirect is followed once, to the same BMC only.

        Raises `BmcUnreachable` and `CertificateChanged`; the status is the caller's to judge.
        """
        answer = await self._get(address, trust, path, headers=headers)
        if answer.status_code in REDIRECTS:
            base = f"{trust.scheme}://{authority(address)}{path}"
            target = urlsplit(urljoin(base, answer.headers.get("Location", "")))
            if target.hostname != urlsplit(base).hostname:
                raise BmcUnreachable(str(address), f"GET {path}: redirects to another host")
            path = target.path + (f"?{target.query}" if target.query else "")
            answer = await self._get(address, trust, path, headers=headers)
        return answer

    async def look(self, address: BmcAddress, trust: Trust, path: str) -> Answer:
        """One GET of at most 64 KB without credentials or redirects, over a connection that is not kept."""
        return await self._exchange(
            address,
            trust,
            "GET",
            path,
            seconds=self._timeouts.probe_seconds,
            largest_bytes=LARGEST_LOOK_BYTES,
            kept=False,
        )

    async def write(
        self,
        address: BmcAddress,
        trust: Trust,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        content: Content | None = None,
        kept: bool = False,
    ) -> Answer:
        """One request that changes something, sent once; over a connection of its own unless `kept` allows any.

        A kept connection may have died unseen, and then nobody knows whether the BMC acted: good enough for sessions.
        Raises `BmcUnreachable` when nothing was written, `AnswerLost` otherwise. `content` may take long.
        """
        data: Any = content
        fields = dict(headers or {})
        if json is not None:
            data = orjson.dumps(json)
            fields["Content-Type"] = "application/json"
        seconds = self._timeouts.push_seconds if content is not None else self._timeouts.read_seconds
        return await self._exchange(address, trust, method, path, headers=fields, data=data, seconds=seconds, kept=kept)

    async def _get(self, address: BmcAddress, trust: Trust, path: str, *, headers: Mapping[str, str] | None) -> Answer:
        """A kept connection that has died is replaced once, without counting as a try."""
        _OPENED.set(False)
        try:
            return await self._exchange(address, trust, "GET", path, headers=headers)
        except BmcUnreachable as error:
            died = isinstance(error.__cause__, (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError))
            if _OPENED.get() or not died:
                raise
        return await self._exchange(address, trust, "GET", path, headers=headers)

    async def close(self) -> None:
        """Close all connections."""
        for session in (self._kept, self._single):
            if session:
                await session.close()
        self._kept = self._single = None

    async def _exchange(
        self,
        address: BmcAddress,
        trust: Trust,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: Any = None,
        seconds: float | None = None,
        largest_bytes: int = LARGEST_BODY_BYTES,
        kept: bool = True,
    ) -> Answer:
        url = yarl.URL(f"{trust.scheme}://{authority(address)}{path.replace(' ', '%20')}", encoded=True)
        limit = aiohttp.ClientTimeout(
            total=seconds or self._timeouts.read_seconds, sock_connect=self._timeouts.connect_seconds
        )
        fields = {"OData-Version": "4.0", "Accept": "application/json", **(headers or {})}
        try:
            async with self._session(kept=kept).request(
                method,
                url,
                headers=fields,
                data=data,
                ssl=trust.for_aiohttp,
                timeout=limit,
                allow_redirects=False,
            ) as response:
                content = await _body(response, largest_bytes)
                return Answer(response.status, response.headers, content)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _meaning(str(address), method, path, error=error) from error

    def _session(self, *, kept: bool) -> aiohttp.ClientSession:
        if kept:
            self._kept = self._kept or _client(_Connector(**_POOL, keepalive_timeout=IDLE_SECONDS))
            return self._kept
        self._single = self._single or _client(_Connector(**_POOL, force_close=True))
        return self._single


_OPENED: ContextVar[bool] = ContextVar("opened", default=False)
"""This task's last request needed a new connection."""


class _Connector(aiohttp.TCPConnector):
    """Notes new connections; what `aiohttp.TraceConfig` tells of them costs more than all else here."""

    async def _create_connection(self, *arguments: Any) -> ResponseHandler:
        _OPENED.set(True)
        return await super()._create_connection(*arguments)


_POOL: dict[str, Any] = {"limit": 0, "limit_per_host": 0, "use_dns_cache": False}


def _client(connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    client = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": "identity"},
    )
    client._retry_connection = False  # private in aiohttp 3.14: it would send a DELETE twice; a test watches it
    return client


async def _body(response: aiohttp.ClientResponse, largest_bytes: int) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > largest_bytes:
            raise aiohttp.ClientPayloadError(f"more than {largest_bytes} bytes")
    return bytes(content)


def _meaning(bmc: str, method: str, path: str, *, error: Exception) -> BmcError:
    if isinstance(error, aiohttp.ServerFingerprintMismatch):
        return CertificateChanged(bmc, "shows another certificate than the one pinned on first use")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return CertificateChanged(bmc, "certificate not trusted")
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)):
        return BmcUnreachable(bmc, f"no connection: {getattr(error, 'strerror', '') or type(error).__name__}")
    said = f"{method} {path}: {_in_words(error)}"
    return BmcUnreachable(bmc, said) if method in READS else AnswerLost(bmc, said)


def _in_words(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientPayloadError):
        return "only half of the answer came"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, (aiohttp.ServerDisconnectedError, ConnectionError)):
        return "the BMC closed the connection instead of answering"
    return f"no answer: {type(error).__name__}"
