"""BMCs that announce themselves (DSP0266, "Discovery")."""

import asyncio
import socket
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from provisioner.discovery.ssdp import SsdpSettings, addresses_in, search
from provisioner.models.node import BmcAddress

GROUP = "239.255.255.250"
BMC = BmcAddress("127.77.5.1", 8443)
ANSWER = (
    "HTTP/1.1 200 OK\r\nCACHE-CONTROL:max-age=1800\r\nST:urn:dmtf-org:service:redfish-rest:1\r\n"
    "USN:uuid:92384634-2938-2342-8820-489239905423::urn:dmtf-org:service:redfish-rest:1:0\r\n"
    "AL:https://{bmc}/redfish/v1/\r\nEXT:\r\n\r\n"
)
PRINTER = "HTTP/1.1 200 OK\r\nUSN:uuid:1::upnp:rootdevice\r\nAL:https://127.77.5.9/\r\n\r\n"


class Responder(asyncio.DatagramProtocol):
    """A BMC that answers an M-SEARCH, as DSP0266 shows it; and a printer that answers everything."""

    def __init__(self, bmc: BmcAddress) -> None:
        """It says that `bmc` is where it answers."""
        self.bmc = bmc

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ready."""
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str | int, ...]) -> None:
        """One search."""
        if b"ST: urn:dmtf-org:service:redfish-rest:1" in data:
            self.transport.sendto(PRINTER.encode(), addr)
            self.transport.sendto(ANSWER.format(bmc=self.bmc).encode(), addr)


@asynccontextmanager
async def responding(bmc: BmcAddress) -> AsyncIterator[int]:
    """Somebody on the loopback segment answers searches on this port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("", 0))
    try:
        group = struct.pack("4s4s", socket.inet_aton(GROUP), socket.inet_aton("127.0.0.1"))
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    except OSError as error:
        pytest.skip(f"no multicast on loopback here: {error}")
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Responder(bmc), sock=listener)
    try:
        yield listener.getsockname()[1]
    finally:
        transport.close()


async def test_who_answers_a_search_is_found() -> None:
    """The DMTF library asks, in a process of its own as it sets the socket timeout for all of its process."""
    async with responding(BMC) as port:
        found = await search(SsdpSettings(seconds=1, port=port, interface="lo", address="127.0.0.1"))
    assert found == {BMC}
    assert socket.getdefaulttimeout() is None


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (b'["https://10.0.0.1/redfish/v1/"]', {BmcAddress("10.0.0.1", 443)}),
        (
            b'["http://10.0.0.1/redfish/v1/", "https://[fe80::1]:8443/"]',
            {BmcAddress("10.0.0.1", 80), BmcAddress("fe80::1", 8443)},
        ),
        (b'["nonsense", 3, null, "https://10.0.0.1:99999/", "https://[::1"]', set()),
        (b"", set()),
        (b'{"a": 1}', set()),
    ],
)
def test_what_answers_say_is_not_trusted(output: bytes, found: set[BmcAddress]) -> None:
    """Anybody on the segment may answer."""
    assert addresses_in(output) == found


@pytest.mark.parametrize("script", ["raise SystemExit(3)", "print('no JSON')", "import time; time.sleep(30)"])
async def test_a_search_that_fails_finds_nobody(script: str) -> None:
    """No multicast, no rights, no end: discovery goes on by other ways."""
    settings = SsdpSettings(seconds=0, grace_seconds=1.0, command=(sys.executable, "-c", script))
    assert await search(settings) == frozenset()
