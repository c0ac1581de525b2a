"""Finding BMCs by address, without a plan and without credentials."""

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import orjson
import pytest

from provisioner.discovery.scan import ScanSettings, scan
from provisioner.errors import BadInput
from provisioner.models.inventory import Identity
from provisioner.redfish.tls import TlsMode
from tests.redfish.raw_server import Misbehaviour, RawBmc, Reply, answer
from tests.redfish.site import site_of

ROOT = {"RedfishVersion": "1.15.0", "UUID": "ABC", "Vendor": "Example", "Product": "One", "Systems": {}}
ROOT_PATH = "GET /redfish/v1/"
QUICK = ScanSettings(connects=64, probes=16, connect_seconds=0.5)


@asynccontextmanager
async def answering(replies: dict[str, Reply]) -> AsyncIterator[tuple[int, dict[str, RawBmc]]]:
    """A server on one port at each address; what it says to a look at its root."""
    port, servers, bmcs = 0, [], {}
    for host, reply in replies.items():
        bmc = bmcs[host] = RawBmc()
        bmc.replies[ROOT_PATH] = reply
        server = await asyncio.start_server(bmc.handle, host, port)
        port = server.sockets[0].getsockname()[1]
        servers.append(server)
    try:
        yield port, bmcs
    finally:
        for server, bmc in zip(servers, bmcs.values(), strict=True):
            server.close()
            for writer in bmc.written:
                writer.transport.abort()


async def test_a_scan_of_a_network_finds_its_bmcs_and_nothing_else() -> None:
    """Web servers, SSH and endless pages are no BMCs; a redirect is not followed; no password leaves."""
    replies: dict[str, Reply] = {
        "127.77.3.1": answer(200, ROOT),
        "127.77.3.9": answer(200, {**ROOT, "UUID": "DEF"}),
        "127.77.3.20": answer(200, b"<html>Welcome to nginx</html>"),
        "127.77.3.21": answer(302, None, "Location: http://127.77.3.1/redfish/v1/"),
        "127.77.3.22": answer(200, orjson.dumps({**ROOT, "Oem": "x" * 70_000})),
        "127.77.3.23": Misbehaviour.RESET,
        "127.77.3.24": answer(401, {"error": {}}),
        "127.77.3.25": answer(200, {"hello": "world"}),
        "127.77.3.254": answer(200, ROOT),
    }
    async with answering(replies) as (port, bmcs), site_of(TlsMode.PLAIN) as site:
        found = await scan([ip_network("127.77.3.0/24")], port, site.bmcs, settings=QUICK)
        hosts = [address.host for address, _ in found]
        assert hosts == ["127.77.3.1", "127.77.3.9", "127.77.3.254"]
        assert found[0][1] == Identity(serial="", uuid="abc", manufacturer="Example", model="One")
        assert {request for bmc in bmcs.values() for request in bmc.requests} == {ROOT_PATH}
        assert site.failures.counts == {}


async def test_one_that_answers_late_is_asked_once_more() -> None:
    """A full core or a busy BMC made a scan of ours miss 244 of 65,536: no answer is asked for twice."""
    answers = [answer(503, {}), answer(200, ROOT)]
    async with answering({"127.77.4.1": answer(200, ROOT)}) as (port, bmcs), site_of(TlsMode.PLAIN) as site:
        bmcs["127.77.4.1"].replies[ROOT_PATH] = lambda: answers.pop(0)
        assert len(await scan([ip_network("127.77.4.0/30")], port, site.bmcs, settings=QUICK)) == 1


async def test_a_range_that_nobody_can_scan_is_refused() -> None:
    """Someone wrote /8, or an IPv6 /64."""
    async with site_of() as site:
        for network in ("10.0.0.0/8", "fd00::/64"):
            with pytest.raises(BadInput, match="at most"):
                await scan([ip_network(network)], 443, site.bmcs)


async def test_when_we_have_no_files_left_nobody_is_called_silent() -> None:
    """A scan with too few file descriptors would report every server of the site as missing."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(list(Path("/proc/self/fd").iterdir())) + 3
    async with site_of() as site:
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, limits[1]))
        try:
            with pytest.raises(ExceptionGroup) as failed:
                await scan([ip_network("127.77.6.0/26")], 9, site.bmcs, settings=QUICK)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert failed.group_contains(OSError, match="Too many open files")


async def test_networks_that_overlap_are_asked_once() -> None:
    async with answering({"127.77.7.1": answer(200, ROOT)}) as (port, bmcs), site_of(TlsMode.PLAIN) as site:
        ranges = [ip_network("127.77.7.0/29"), ip_network("127.77.7.1/32"), ip_network("127.77.7.0/30")]
        assert len(await scan(ranges, port, site.bmcs, settings=QUICK)) == 1
        assert bmcs["127.77.7.1"].requests == [ROOT_PATH]
