"""Network boot as the firmware does it: script, root, check of its digest, start; again and again until it works."""

import asyncio
import hashlib
import uuid
from collections.abc import Callable
from urllib.parse import urlencode

import aiohttp
import structlog

from emulator.machine.agent import AgentProcess
from emulator.machine.bios_settings import BiosSettings
from emulator.machine.board import Board
from emulator.machine.boot_script import BootError, BootScript, read_script

_SHORTEST_RETRY_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 4.0
_FETCH = aiohttp.ClientTimeout(total=60, connect=10)
_log = structlog.get_logger()

Enter = Callable[[str, str], None]


class NetworkBoot:
    """Boots one host; nothing is installed on it, so only the network can start anything."""

    def __init__(self, board: Board, bios: BiosSettings, boot_service: str, client: aiohttp.ClientSession) -> None:
        """`boot_service` is the address that DHCP would give to PXE."""
        self._board = board
        self._bios = bios
        self._boot_service = boot_service.rstrip("/")
        self._client = client
        self._powered_on = 0.0
        self.agent = AgentProcess(board)
        self.booted_image: str | None = None
        self.last_error: str | None = None

    async def run(self, enter: Enter) -> None:
        """Boot what the override or the boot order says; the same target is tried until it works."""
        targets = self._take_targets()
        self._powered_on = asyncio.get_running_loop().time()
        pause = _SHORTEST_RETRY_SECONDS
        try:
            while True:
                enter("booting", "OSBootStarted")
                wait = await self._attempt(targets, enter)
                enter("no-bootable-device", "SystemHardwareInitializationComplete")
                await asyncio.sleep(max(wait, pause))
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        finally:
            self.booted_image = None

    def _take_targets(self) -> tuple[str, ...]:
        state = self._board.state
        if state.boot_enabled == "Disabled" or state.boot_target == "None":
            return self._board.persona.boot.order
        target = state.boot_target
        if state.boot_enabled == "Once":
            state.boot_enabled = "Disabled"
            state.boot_target = "None"
            self._board.save()
        return (target,)

    async def _attempt(self, targets: tuple[str, ...], enter: Enter) -> float:
        """Boot; returns after how many seconds of the wall clock to try again."""
        retry = self._board.persona.durations.boot_retry
        for target in targets:
            try:
                script = await self._script(target)
                if script:
                    await self._start(script, enter)
            except BootError as error:
                self._count_failure(target, error)
                retry = retry if error.retry_after is None else error.retry_after
        return self._board.clock.wall_seconds(retry)

    async def _script(self, target: str) -> BootScript | None:
        boot = self._board.persona.boot
        if target == "UefiHttp":
            self._need(boot.http_needs)
            if not self._board.state.http_boot_uri or self._board.state.boot_mode != "UEFI":
                raise BootError("there is no HttpBootUri, or the boot mode is not UEFI")
            content = await self._fetch(self._board.state.http_boot_uri, "UefiHttpBoot/1.0")
        elif target == "Pxe":
            self._need(boot.pxe_needs)
            identity = {"uuid": self._board.uuid, "serial": self._board.serial, "mac": self._board.mac(0)}
            query = urlencode({**identity, "arch": self._board.persona.arch})
            content = await self._fetch(f"{self._boot_service}/boot/ipxe?{query}", "iPXE/1.21.1")
        else:
            return None
        return read_script(content.decode("utf-8", "replace"))

    async def _start(self, script: BootScript, enter: Enter) -> None:
        root = await self._fetch(script.url, "iPXE/1.21.1")
        if self._board.faults.take("wrong-artefact"):
            root = root[:-1] + bytes([root[-1] ^ 0xFF]) if root else b"\0"
        found = f"sha256:{hashlib.sha256(root).hexdigest()}"
        if found != script.word("firstlight.root"):
            raise BootError(f"the root has the digest {found}")
        image = script.word("firstlight.image")

        def started() -> None:
            if self.booted_image is None:
                self.booted_image = image
                self._board.state.boots += 1
                self._board.save()
            enter("running", "OSRunning")

        self.last_error = None
        await self.agent.run(root, (*script.words, f"firstlight.boot_id={uuid.uuid4()}"), started)

    async def _fetch(self, url: str, user_agent: str) -> bytes:
        self._check_reachable()
        try:
            async with self._client.get(url, headers={"User-Agent": user_agent}, timeout=_FETCH) as answer:
                if answer.status != 200:
                    after = answer.headers.get("Retry-After", "")
                    raise BootError(f"{url} answered {answer.status}", float(after) if after.isdigit() else None)
                return await answer.read()
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise BootError(f"{url}: {error or type(error).__name__}") from error

    def _check_reachable(self) -> None:
        fault = self._board.faults.peek("boot-server-unreachable")
        up = asyncio.get_running_loop().time() - self._powered_on
        if fault and (not fault["seconds"] or up < float(fault["seconds"])):
            self._board.faults.take("boot-server-unreachable")
            raise BootError("the boot service cannot be reached")

    def _need(self, attributes: dict[str, str | int | bool]) -> None:
        current = self._bios.current
        for name, value in attributes.items():
            if current.get(name) != value:
                raise BootError(f"the BIOS has {name}={current.get(name)}")

    def _count_failure(self, target: str, error: BootError) -> None:
        self._board.state.boot_failures += 1
        reason = f"{target}: {error}"
        if reason != self.last_error:
            _log.info("boot failed", bmc=self._board.entry.name, target=target, reason=str(error))
        self.last_error = reason
