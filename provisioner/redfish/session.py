"""The HTTP session under sushy: one kept connection, and no request that changes something is ever sent twice.

Stock sushy repeats a POST up to ten times after a read timeout, and its `Connector` needs only `request` of its
session. Errors are `BmcError`s, which no retry loop of sushy catches.
"""

import http.client
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from urllib.parse import urljoin, urlsplit

import orjson
from multidict import CIMultiDict

from provisioner.errors import AnswerLost, BmcError, BmcUnreachable, CertificateChanged
from provisioner.models.node import BmcAddress
from provisioner.redfish.answer import READS, REDIRECTS, Answer, judge
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import Trust, authority

LARGEST_BODY_BYTES = 32 * 1024 * 1024
FRESH_SECONDS = 1.0
"""A request that changes something uses a kept connection only when it has been idle for less than this."""


class SingleShotSession:
    """For one thread at a time. `headers` are added to every request (the session token)."""

    def __init__(self, address: BmcAddress, trust: Trust, timeouts: Timeouts) -> None:
        """Connect to nothing yet."""
        self.headers: dict[str, str] = {}
        self.auth: None = None
        self._bmc = str(address)
        self._address = address
        self._trust = trust
        self._timeouts = timeouts
        self._connection: http.client.HTTPConnection | None = None
        self._idle_since = 0.0

    def request(
        self,
        method: str,
        url: str,
        json: object = None,
        headers: Mapping[str, str] | None = None,
        **_: object,
    ) -> Answer:
        """Send one request and judge its answer; see `judge` for what is raised.

        A failure before anything was written is `BmcUnreachable`; after that, `AnswerLost` for what changes
        something. `verify` and `timeout` of `requests` are taken and ignored.
        """
        path = _path(url)
        fields = {**self.headers, **(headers or {})}
        body = orjson.dumps(json) if json is not None else None
        answer = self._send(method, path, fields, body)
        if method in READS and answer.status_code in REDIRECTS:
            answer = self._send(method, self._redirected(path, answer), fields, body)
        judge(self._bmc, method, path, answer)
        return answer

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        connection, kept = self._ready_connection(method)
        try:
            return self._exchange(connection, method, path, headers=headers, body=body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if kept and method in READS and _closed_before_answer(error):
                return self._send(method, path, headers, body)  # the new connection is not kept: once only
            raise self._lost(method, path, error) from error

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> Answer:
        content = bytearray()
        with _cut_after(connection.sock, self._timeouts.read_seconds):
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            while chunk := response.read1(65536):
                content += chunk
                if len(content) > LARGEST_BODY_BYTES:
                    raise TimeoutError("the answer does not end")
        if response.length:
            raise http.client.IncompleteRead(bytes(content), response.length)
        response.close()  # read1 leaves it open, and then the connection takes no further request
        if response.will_close:
            self.close()
        self._idle_since = time.monotonic()
        return Answer(response.status, CIMultiDict(response.getheaders()), bytes(content))

    def _ready_connection(self, method: str) -> tuple[http.client.HTTPConnection, bool]:
        kept = self._connection
        young = method in READS or time.monotonic() - self._idle_since < FRESH_SECONDS
        if kept and kept.sock and young and not _stirred(kept):
            return kept, True
        self.close()
        self._connection = self._connect()
        return self._connection, False

    def _connect(self) -> http.client.HTTPConnection:
        host, port, seconds = self._address.host, self._address.port, self._timeouts.connect_seconds
        connection: http.client.HTTPConnection
        if self._trust.context:
            connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=self._trust.context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=seconds)
        try:
            connection.connect()
            if isinstance(connection.sock, ssl.SSLSocket):
                self._trust.check(self._bmc, connection.sock.getpeercert(binary_form=True))
            connection.sock.settimeout(self._timeouts.read_seconds)
        except ssl.SSLCertVerificationError as error:
            raise CertificateChanged(self._bmc, f"certificate not trusted: {error.verify_message}") from error
        except OSError as error:
            raise BmcUnreachable(self._bmc, f"no connection: {_name(error)}") from error
        except CertificateChanged:
            connection.close()
            raise
        return connection

    def _lost(self, method: str, path: str, error: Exception) -> BmcError:
        said = f"{method} {path}: no answer: {_name(error)}"
        return BmcUnreachable(self._bmc, said) if method in READS else AnswerLost(self._bmc, said)

    def _redirected(self, path: str, answer: Answer) -> str:
        base = f"{self._trust.scheme}://{authority(self._address)}{path}"
        target = urlsplit(urljoin(base, answer.headers.get("Location", "")))
        if target.hostname != urlsplit(base).hostname:
            raise BmcUnreachable(self._bmc, f"GET {path}: redirects to another host")
        return _path(target.geturl())


@contextmanager
def _cut_after(sock: socket.socket, seconds: float) -> Iterator[None]:
    """A socket's own timeout starts anew with every byte: a BMC that drips would hold a thread for ever.

    Raises TimeoutError after a cut: http.client takes the end of the stream for the end of the headers.
    """
    cuts: list[bool] = []

    def cut() -> None:
        cuts.append(True)
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if cuts:
        raise TimeoutError("the answer does not end")


def _path(url: str) -> str:
    parts = urlsplit(url)
    path = (parts.path or "/").replace(" ", "%20")
    return f"{path}?{parts.query}" if parts.query else path


def _name(error: Exception) -> str:
    return f"{type(error).__name__} {error.strerror}" if isinstance(error, OSError) else type(error).__name__


def _stirred(connection: http.client.HTTPConnection) -> bool:
    """Something arrived while nothing was asked: the end of the connection, most likely."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))


def _closed_before_answer(error: Exception) -> bool:
    return isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError))
