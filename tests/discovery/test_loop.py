"""The loop that looks for BMCs beside the expected list."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from structlog.testing import capture_logs

from provisioner.capabilities.bmcs import Bmcs
from provisioner.capabilities.clock import Clock
from provisioner.capabilities.found_hosts import Hosts
from provisioner.capabilities.records import Nodes
from provisioner.capabilities.service import Service
from provisioner.clock import PacedClock
from provisioner.discovery.ssdp import SsdpSettings
from provisioner.discovery_loop import keep_looking
from provisioner.models.found_bmc import How
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.node import BmcAddress, ExpectedNode
from provisioner.redfish.tls import TlsMode
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.services.discoveries import Discoveries, discoveries
from provisioner.settings import Discovery
from provisioner.store.opening import Store, open_store
from tests.discovery.test_scan import ROOT, ROOT_PATH, answering
from tests.discovery.test_ssdp import responding
from tests.redfish.raw_server import answer
from tests.redfish.site import site_of

T = TypeVar("T")

HOST = "127.77.8.1"
Logs = list[MutableMapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SmallWorld:
    """As much of a world as looking around needs."""

    clock: Clock
    nodes: Nodes
    bmcs: Bmcs
    hosts: Hosts


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty one."""
    store = open_store(f"sqlite:///{tmp_path}/site.db", open_cipher(tmp_path / "key"))
    yield store
    store.close()


@asynccontextmanager
async def looking(store: Store, discovery: Discovery, ssdp: SsdpSettings | None = None) -> AsyncIterator[Logs]:
    """The loop runs; what it has logged."""
    async with site_of(TlsMode.PLAIN) as site:
        world = SmallWorld(PacedClock(), store.nodes, site.bmcs, store.hosts)
        unused = cast("Any", None)
        service = Service(
            site="trial",
            world=cast("Any", world),
            runs=unused,
            tokens=unused,
            claims=unused,
            operations=unused,
            webhooks=unused,
            changes=unused,
            found=store.found_bmcs,
            campaigns=unused,
            drift=unused,
            audit=unused,
            rollouts=unused,
            turns=unused,
            channels=unused,
            promotion=unused,
            catalog=unused,
            pools={},
        )
        with capture_logs() as logs:
            loop = asyncio.create_task(keep_looking(discovery, service, ssdp=ssdp))
            try:
                yield logs
                assert not loop.done(), "discovery ended by itself"
            finally:
                loop.cancel()
                await asyncio.gather(loop, return_exceptions=True)
        assert site.failures.counts == {}


async def told(store: Store, done: Callable[[Discoveries], bool]) -> Discoveries:
    """Wait until the discoveries are as wanted."""
    return await until(lambda: discoveries(store.nodes, store.found_bmcs), done)


async def until(look: Callable[[], Awaitable[T]], done: Callable[[T], bool]) -> T:
    async with asyncio.timeout(60):
        while not done(seen := await look()):  # noqa: ASYNC110 - the loop tells nobody
            await asyncio.sleep(0.1)
    return seen


def every_second(**fields: Any) -> Discovery:
    return Discovery.model_validate({"every": "1s", **fields})


def events(logs: Logs, name: str) -> Logs:
    return [one for one in logs if one["event"] == name]


def announcing(path: Path, *urls: str) -> None:
    """A search whose answers these are."""
    path.write_text(f"#!{sys.executable}\nprint('''{json.dumps(urls)}''')\n")
    path.chmod(0o755)


async def test_who_announces_himself_is_found_over_udp(store: Store) -> None:
    """The whole way: M-SEARCH, the answer's AL header, a look at the root that it names."""
    replies = {HOST: answer(200, ROOT)}
    async with answering(dict(replies)) as (bmc_port, bmcs), responding(BmcAddress(HOST, bmc_port)) as port:
        ssdp = SsdpSettings(seconds=1, port=port, interface="lo", address="127.0.0.1")
        async with looking(store, every_second(ssdp=True), ssdp) as logs:
            seen = await told(store, lambda seen: bool(seen.unexpected))
            assert seen.unexpected[0].bmc.address == BmcAddress(HOST, bmc_port)
            assert (seen.unexpected[0].bmc.how, seen.unexpected[0].bmc.uuid) == (How.SSDP, "abc")
        assert set(bmcs[HOST].requests) == {ROOT_PATH}
        (event,) = events(logs, "unexpected_bmc_found")
        assert (event["bmc"], event["uuid"], event["how"]) == (f"{HOST}:{bmc_port}", "abc", "ssdp")


async def test_what_answers_to_a_search_is_looked_at_and_not_believed(store: Store, tmp_path: Path) -> None:
    """Names could lead anywhere; an address without a BMC is none; SSDP may be silent while the BMC answers."""
    search = tmp_path / "search"
    async with answering({HOST: answer(200, ROOT), "127.77.8.2": answer(200, b"hello")}) as (port, bmcs):
        announcing(search, f"https://{HOST}:{port}/", f"https://127.77.8.2:{port}/", f"https://localhost:{port}/")
        ssdp = SsdpSettings(seconds=1, command=(str(search),))
        async with looking(store, every_second(ssdp=True), ssdp) as logs:
            seen = await told(store, lambda seen: seen.scan is not None)
            assert [one.bmc.address.host for one in seen.unexpected] == [HOST]
            announcing(search)
            asked = len(bmcs[HOST].requests)
            await until(lambda: asyncio.sleep(0, len(bmcs[HOST].requests)), lambda count: count > asked + 2)
            assert len((await discoveries(store.nodes, store.found_bmcs)).unexpected) == 1
            bmcs[HOST].replies[ROOT_PATH] = answer(404, {})
            await told(store, lambda seen: not seen.unexpected)
            assert len(await store.found_bmcs.all()) == 1
    assert len(events(logs, "unexpected_bmc_found")) == 1


async def test_a_scan_tells_nodes_strangers_and_who_is_missing(store: Store) -> None:
    """A found BMC never becomes a node; a node that appears at its address later makes it expected."""
    replies = {HOST: answer(200, ROOT), "127.77.8.3": answer(200, {**ROOT, "UUID": "DEF"})}
    async with answering(dict(replies)) as (port, bmcs):
        await store.nodes.expect([_node("a", HOST, port), _node("b", "127.77.8.2", port)], PacedClock().now())
        async with looking(store, every_second(ranges=["127.77.8.0/29"], port=port)) as logs:
            seen = await told(store, lambda seen: seen.scan is not None)
            assert [one.node.name for one in seen.expected] == ["a"]
            assert [one.bmc.address.host for one in seen.unexpected] == ["127.77.8.3"]
            assert "expected list with rack and position" in seen.unexpected[0].instruction.what
            assert f"127.77.8.3:{port}: Example One, UUID def" in seen.unexpected[0].instruction.where
            assert [one.node.name for one in seen.missing] == ["b"]
            assert seen.missing[0].instruction.where == "rack r1, position 2 (b)"
            assert len(await store.nodes.all()) == 2
            await store.nodes.expect([_node("c", "127.77.8.3", port)], PacedClock().now())
            assert (await discoveries(store.nodes, store.found_bmcs)).unexpected == ()
        assert {one for bmc in bmcs.values() for one in bmc.requests} == {ROOT_PATH}
    finished = events(logs, "discovery_finished")[0]
    assert (finished["expected"], finished["unexpected"], finished["missing"]) == (1, 1, 1)


async def test_a_board_that_answers_elsewhere_is_said_to_be_so(store: Store) -> None:
    """Its server was moved, or the address of its BMC has changed: nothing is merged."""
    async with answering({HOST: answer(200, ROOT), "127.77.8.3": answer(200, b"")}) as (port, bmcs):
        await store.nodes.expect([_node("a", HOST, port)], PacedClock().now())
        async with looking(store, every_second(ranges=["127.77.8.0/29"], port=port)):
            await told(store, lambda seen: bool(seen.expected))
            bmcs[HOST].replies[ROOT_PATH], bmcs["127.77.8.3"].replies[ROOT_PATH] = answer(404, {}), answer(200, ROOT)
            seen = await told(store, lambda seen: bool(seen.missing and seen.unexpected))
            assert [node.name for node in seen.unexpected[0].same_uuid] == ["a"]
            assert "it says the UUID of a, which is expected at" in seen.unexpected[0].instruction.what
            assert f"a BMC with its UUID answers at 127.77.8.3:{port}" in seen.missing[0].instruction.what
            bmcs[HOST].replies[ROOT_PATH] = answer(200, ROOT)
            seen = await told(store, lambda seen: not seen.missing)
            assert "which answers at" in seen.unexpected[0].instruction.what
        assert (await store.nodes.get(NodeName("a"))).bmc.host == HOST


async def test_a_look_that_fails_is_logged_and_tried_again(store: Store, tmp_path: Path) -> None:
    """The program that searches cannot be started; later it can."""
    search = tmp_path / "search"
    async with looking(store, every_second(ssdp=True), SsdpSettings(command=(str(search),))) as logs:
        await until(lambda: asyncio.sleep(0, logs), lambda logs: len(events(logs, "discovery_failed")) > 1)
        assert "FileNotFoundError" in events(logs, "discovery_failed")[0]["error"]
        assert await store.found_bmcs.last_scan() is None
        announcing(search)
        await told(store, lambda seen: seen.scan is not None)


async def test_of_several_workers_one_looks(store: Store, tmp_path: Path) -> None:
    """Another one has begun a moment ago."""
    announcing(tmp_path / "search")
    await store.found_bmcs.claim(PacedClock().now(), timedelta(minutes=15))
    discovery = Discovery.model_validate({"ssdp": True})
    async with looking(store, discovery, SsdpSettings(command=(str(tmp_path / "search"),))) as logs:
        await asyncio.sleep(2)
    assert logs == []


def _node(name: str, host: str, port: int) -> ExpectedNode:
    return ExpectedNode(NodeName(name), RackName("r1"), ord(name) - ord("a") + 1, BmcAddress(host, port))
