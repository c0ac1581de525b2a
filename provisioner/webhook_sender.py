"""Sending one message to a webhook: to the address that was looked at, without following anything."""

import asyncio
import http.client
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

_TIMEOUT_SECONDS = 10.0
_METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "100.100.100.200"})
"""Where clouds tell an instance its credentials (AWS, Azure, GCP; AWS over IPv6; Alibaba)."""


async def send(url: str, headers: Mapping[str, str], body: str, *, link_local: bool = False) -> str:
    """Why it was not taken; empty when it was (2xx). `link_local`: such addresses may be sent to as well."""
    return await asyncio.to_thread(_send, url, headers, body.encode(), link_local=link_local)


def _send(url: str, headers: Mapping[str, str], body: bytes, *, link_local: bool) -> str:
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    try:
        address = _address(host, parts.port or (443 if secure else 80), link_local=link_local)
        connection = _Connection(host, address, secure=secure)
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        try:
            sent = {"Content-Type": "application/cloudevents+json; charset=utf-8", **headers}
            connection.request("POST", path, body, sent)
            status = connection.getresponse().status
        finally:
            connection.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "" if 200 <= status < 300 else f"answered {status}"


def refusal(address: str) -> str:
    """Why nothing is sent to an address; "" where it is."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(one, ipaddress.IPv6Address) and one.ipv4_mapped is not None:
        one = one.ipv4_mapped
    if str(one) in _METADATA or one.is_link_local or one.is_multicast or one.is_unspecified:
        return f"{one} is a link-local, metadata or group address: nothing is sent there"
    return ""


def _address(host: str, port: int, *, link_local: bool) -> tuple[str, int]:
    """The first address of the host; raises `OSError` when any is one that nothing is sent to."""
    found = [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    refused = [] if link_local else [why for why in map(refusal, found) if why]
    if refused:
        raise OSError(refused[0])
    return found[0], port


class _Connection(http.client.HTTPConnection):
    """To an address that was resolved once: a name that changes meanwhile leads nowhere else."""

    def __init__(self, host: str, address: tuple[str, int], *, secure: bool) -> None:
        super().__init__(host, address[1], timeout=_TIMEOUT_SECONDS)
        self._address = address
        self._secure = secure

    def connect(self) -> None:
        """To the address; the certificate is that of the name."""
        plain = socket.create_connection(self._address, _TIMEOUT_SECONDS)
        self.sock = (
            ssl.create_default_context().wrap_socket(plain, server_hostname=self.host) if self._secure else plain
        )
