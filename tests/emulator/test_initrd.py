"""What an emulated host does between its kernel and its root, and how it fails."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from emulator.clock import Clock
from emulator.config import FaultSetting
from emulator.faults.active import ActiveFaults
from emulator.netboot.boot_error import BootError, LostPower, PowersOff
from emulator.netboot.curl import Curl
from emulator.netboot.fetch import File
from emulator.netboot.identity import Identity
from emulator.netboot.initrd import Around, Booted, Initrd
from emulator.netboot.ipxe import Boot
from tests.emulator.boot_server import BootServer, Reply, digest_of

HOST = Identity("uuid-1", "S1", "3C:EC:EF:00:0A:0B", "10.20.1.2", "x86_64", "efi", "Maker", "Model")
ROOT = b"hsqs" + bytes(range(256)) * 800  # 200 KiB
IMAGE = "sha256:" + "1" * 64
TOKEN = "firstlight.token=secret"


@pytest.fixture
def server() -> Iterator[BootServer]:
    """The service."""
    with BootServer() as running:
        yield running


@pytest.fixture
def mirror() -> Iterator[BootServer]:
    """A cache beside it."""
    with BootServer() as running:
        yield running


@asynccontextmanager
async def initrd(
    *faults: FaultSetting, tell: Callable[[str], None] = lambda _: None, speed: float = 0.0
) -> AsyncIterator[Initrd]:
    active = ActiveFaults({})
    for fault in faults:
        active.plant(fault)
    async with aiohttp.ClientSession() as client:
        curl = Curl(client, asyncio.Semaphore(8), lambda: None)
        yield Initrd(Around(HOST, active, Clock(speed), curl, 1.0, tell))


def kernel(server: BootServer, *more: str) -> Boot:
    """A kernel with the words of an image, and those of one boot."""
    words = (f"firstlight.server={server.url}", f"firstlight.image={IMAGE}", f"firstlight.root={digest_of(ROOT)}")
    return Boot((File("http://h/vmlinuz", "", "sha256:0", b"MZ"),), (*words, *more))


async def run(boot: Boot, *faults: FaultSetting) -> Booted:
    async with initrd(*faults) as running:
        return await running.run(boot)


async def stopped(boot: Boot, *faults: FaultSetting) -> str:
    """Why the host powers off."""
    with pytest.raises(PowersOff) as caught:
        await run(boot, *faults)
    return str(caught.value)


async def test_words_of_a_boot_are_asked_for_where_the_command_line_has_no_token(server: BootServer) -> None:
    """The command line of a unified kernel image is the same for every node."""
    server.store(ROOT)
    server.files["/boot/words"] = f"{TOKEN}\nfirstlight.node=n1\nnonsense\n\n".encode()
    booted = await run(kernel(server))
    asked, agent = server.requests[0]
    assert agent == "curl/7.88.1"
    query = {name: values[0] for name, values in parse_qs(urlsplit(asked).query).items()}
    assert query == {"uuid": "uuid-1", "serial": "S1", "mac": HOST.mac, "arch": "x86_64", "image": IMAGE}
    assert {TOKEN, "firstlight.node=n1", f"firstlight.image={IMAGE}"} <= {*booted.words}
    assert "nonsense" not in booted.words
    assert booted.root.digest == digest_of(ROOT)
    assert server.requests[1][0] == f"/v1/artefacts/{digest_of(ROOT)}"


async def test_nothing_is_asked_where_the_command_line_has_a_token_and_the_root_is_there(server: BootServer) -> None:
    """An iPXE script names both."""
    boot = kernel(server, TOKEN)
    found = File("http://h/root", "", digest_of(ROOT), ROOT, size_bytes=len(ROOT))
    booted = await run(Boot((*boot.images, found), boot.words))
    assert booted.root is found
    assert server.requests == []


async def test_signed_command_line_counts_more_than_fetched_words(server: BootServer) -> None:
    """The answer is not signed: it must not name another root."""
    server.store(ROOT)
    server.store(b"another")
    server.files["/boot/words"] = f"{TOKEN}\nfirstlight.root={digest_of(b'another')}\n".encode()
    assert (await run(kernel(server))).root.digest == digest_of(ROOT)


async def test_boot_that_is_refused_is_told_and_ends(server: BootServer) -> None:
    """409, with one line why."""
    server.replies["/boot/words"] = Reply(409, body=b"n1 is in production\nmore")
    assert await stopped(kernel(server)) == "the service refuses this boot: n1 is in production"
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", [Reply(404), Reply(200, body=b"firstlight.node=n1\n"), Reply(500)])
async def test_service_without_words_is_asked_for_minutes_and_then_the_host_is_off(
    server: BootServer, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    """images/initrd/firstlight-network, fl_claim: pauses between, and an end."""
    monkeypatch.setattr("emulator.netboot.patience._LONGEST_WALL_SECONDS", 0.02)
    server.replies["/boot/words"] = reply
    assert "no words for this boot" in await stopped(kernel(server))
    assert len(server.requests) == 40


async def test_service_that_asks_to_come_back_later_is_waited_for(
    server: BootServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """images/initrd/firstlight-fetch: 503 with Retry-After uses up none of the six rounds; RFC 9110, 10.2.3."""
    monkeypatch.setattr("emulator.netboot.patience._SHORTEST_WALL_SECONDS", 0.02)
    monkeypatch.setattr("emulator.netboot.patience._LONGEST_WALL_SECONDS", 0.02)
    server.files["/boot/words"] = TOKEN.encode()
    path = server.store(ROOT)
    for busy, times in (("/boot/words", 3), (path, 13)):
        server.replies[busy] = Reply(503, {"Retry-After": "1"}, times=times)
    async with initrd(speed=10.0) as running:
        began = time.monotonic()
        assert (await running.run(kernel(server))).root.digest == digest_of(ROOT)
    assert time.monotonic() - began >= 16 * 0.1


async def test_mirrors_are_asked_before_the_service(server: BootServer, mirror: BootServer) -> None:
    """firstlight.mirror, in order."""
    server.store(ROOT)
    mirror.store(ROOT)
    booted = await run(kernel(server, TOKEN, f"firstlight.mirror={mirror.url}/"))
    assert booted.root.url.startswith(mirror.url)
    assert server.requests == []


async def test_mirror_with_wrong_bytes_is_not_the_end(server: BootServer, mirror: BootServer) -> None:
    """nwjs/nw.js#7857: one mirror of many has a bad copy."""
    server.store(ROOT)
    mirror.files[mirror.store(ROOT)] = ROOT[:-1] + b"!"
    booted = await run(kernel(server, TOKEN, f"firstlight.mirror={mirror.url}", "firstlight.mirror=http://127.0.0.1:9"))
    assert booted.root.url.startswith(server.url)
    assert server.failures == []


async def test_bit_that_changes_on_the_way_is_found_and_reported(server: BootServer, mirror: BootServer) -> None:
    """wrong-artefact, whoever sends the root: nobody is asked twice, the host powers off."""
    server.store(ROOT)
    mirror.store(ROOT)
    reason = await stopped(kernel(server, TOKEN, f"firstlight.mirror={mirror.url}"), "wrong-artefact")
    assert reason.startswith("integrity: ")
    (authorization, report), *others = server.failures
    assert (authorization, others) == ("Bearer secret", [])
    assert report["kind"] == "integrity"
    assert "\n" not in report["detail"]
    assert (len(server.requests), len(mirror.requests)) == (1, 1)


@pytest.mark.parametrize("arguments", [{"times": 1}, {"address": "MIRROR"}])
async def test_bit_that_changes_once_or_on_one_way_costs_another_fetch(
    server: BootServer, mirror: BootServer, arguments: dict[str, Any]
) -> None:
    """wrong-artefact with `times` or `address`."""
    server.store(ROOT)
    mirror.store(ROOT)
    fault = {"wrong-artefact": {name: mirror.url if value == "MIRROR" else value for name, value in arguments.items()}}
    booted = await run(kernel(server, TOKEN, f"firstlight.mirror={mirror.url}"), fault)
    assert booted.root.url.startswith(server.url)


async def test_root_that_firmware_fetched_with_a_changed_bit_is_fetched_again(server: BootServer) -> None:
    """What is not the root that the command line names is not there."""
    server.store(ROOT)
    boot = kernel(server, TOKEN)
    found = File("http://h/root", "", digest_of(ROOT), ROOT, size_bytes=len(ROOT))
    booted = await run(Boot((found,), boot.words), {"wrong-artefact": {"times": 1}})
    assert booted.root is not found
    assert booted.root.digest == digest_of(ROOT)


async def test_root_that_nobody_has_is_reported(
    server: BootServer, mirror: BootServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind fetch, with what each server answered."""
    monkeypatch.setattr("emulator.netboot.patience._LONGEST_WALL_SECONDS", 0.05)
    reason = await stopped(kernel(server, TOKEN, f"firstlight.mirror={mirror.url}"))
    assert reason.startswith("fetch: ")
    assert server.failures[0][1]["kind"] == "fetch"
    assert server.failures[0][1]["detail"].count("answered 404") == 2
    assert len(mirror.requests) == 6


async def test_report_that_fails_is_sent_again(server: BootServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host is off only when the service knows, or when it cannot be told."""
    monkeypatch.setattr("emulator.netboot.patience._LONGEST_WALL_SECONDS", 0.05)
    server.replies["/boot/failures"] = Reply(500, times=2)
    await stopped(kernel(server, TOKEN))
    assert len(server.failures) == 3
    server.replies["/boot/failures"] = Reply(401)
    await stopped(kernel(server, TOKEN))
    assert len(server.failures) == 4
    server.replies["/boot/failures"] = Reply(503, {"Retry-After": "1"})
    await stopped(kernel(server, TOKEN))
    assert len(server.failures) == 10


async def test_transfer_that_breaks_off_goes_on_where_it_ended(server: BootServer) -> None:
    """root-transfer-breaks; RFC 9110, 14.2: Range. netbootxyz/docker-netbootxyz#100."""
    server.store(ROOT)
    booted = await run(kernel(server, TOKEN), "root-transfer-breaks")
    assert booted.root.digest == digest_of(ROOT)
    assert len(server.ranges) == 1
    assert 65536 <= server.ranges[0] < len(ROOT)


async def test_server_without_ranges_begins_again(server: BootServer) -> None:
    """RFC 9110, 14.2: a server may ignore Range, and answers 200."""
    path = server.store(ROOT)
    server.replies[path] = Reply(200, body=ROOT)
    assert (await run(kernel(server, TOKEN), "root-transfer-breaks")).root.digest == digest_of(ROOT)
    assert len(server.requests) == 2


@pytest.mark.parametrize("bundled", [True, False])
async def test_root_that_does_not_fit_into_memory_is_reported(server: BootServer, *, bundled: bool) -> None:
    """root-does-not-fit; netbootxyz/netboot.xyz#918."""
    server.store(ROOT)
    boot = kernel(server, TOKEN)
    found = File("http://h/root", "", digest_of(ROOT), ROOT, size_bytes=len(ROOT))
    if bundled:
        boot = Boot((found,), boot.words)
    assert (await stopped(boot, "root-does-not-fit")).startswith("memory: the root")
    assert server.failures[0][1]["kind"] == "memory"
    assert await run(boot, {"root-does-not-fit": {"mebibytes": 1}})


async def test_host_without_an_address_reports_nothing(server: BootServer) -> None:
    """initrd-without-network; harvester/harvester#1363."""
    assert (await stopped(kernel(server, TOKEN), "initrd-without-network")).startswith("network: ")
    assert (server.requests, server.failures) == ([], [])


async def test_host_that_loses_power_has_its_words_and_no_root(server: BootServer) -> None:
    """power-lost-in-initrd: the service gave a token that nobody uses."""
    server.files["/boot/words"] = TOKEN.encode()
    with pytest.raises(LostPower):
        await run(kernel(server), "power-lost-in-initrd")
    assert [path.partition("?")[0] for path, _ in server.requests] == ["/boot/words"]


async def test_command_line_of_another_system_is_none_of_ours() -> None:
    """Without words of ours there is nobody to tell."""
    with pytest.raises(BootError, match=r"no firstlight\.root="):
        await run(Boot((), ("root=/dev/sda1",)))


async def test_hundred_hosts_that_fetch_an_image_hold_next_to_none_of_it(server: BootServer) -> None:
    """Images are big; what is kept of each is its beginning."""
    image = b"hsqs" + bytes(2**20)
    server.store(image)
    words = kernel(server, TOKEN).words[:2]
    boot = Boot((), (*words, TOKEN, f"firstlight.root={digest_of(image)}"))
    booted = await asyncio.gather(*(run(boot) for _ in range(100)))
    assert {one.root.digest for one in booted} == {digest_of(image)}
    assert sum(len(one.root.content) + len(one.root.tail) for one in booted) < 100 * 100_000


async def test_secrets_are_in_no_reason(server: BootServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told is read by people and logs."""
    monkeypatch.setattr("emulator.netboot.patience._LONGEST_WALL_SECONDS", 0.05)
    told: list[str] = []
    server.files["/boot/words"] = TOKEN.encode()
    async with initrd(tell=told.append) as running:
        with pytest.raises(PowersOff) as caught:
            await running.run(kernel(server))
    assert "secret" not in json.dumps([*told, str(caught.value), [report for _, report in server.failures]])
