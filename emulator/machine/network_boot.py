"""What a host boots: from the network, from virtual media, from its disk; again and again until it works."""

import asyncio
import hashlib
import uuid
from collections.abc import Callable

import structlog

from emulator.machine.agent import Agent
from emulator.machine.bios_settings import BiosSettings
from emulator.machine.board import Board
from emulator.machine.boot_order import take_targets
from emulator.machine.surroundings import Surroundings
from emulator.machine.virtual_media import VirtualMedia
from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import Fetcher, File
from emulator.netboot.identity import Identity
from emulator.netboot.ipxe import Boot
from emulator.netboot.programs import Firmware
from emulator.persona.boot import MEDIA

_SHORTEST_RETRY_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 4.0
_log = structlog.get_logger()

Enter = Callable[[str, str], None]


class NetworkBoot:
    """Boots one host."""

    def __init__(self, board: Board, bios: BiosSettings, media: VirtualMedia, surroundings: Surroundings) -> None:
        """Nothing runs."""
        self._board = board
        self._bios = bios
        self._media = media
        self._dhcp = surroundings.dhcp
        self._fetcher = Fetcher(surroundings.client, surroundings.fetches_at_once, self._check_reachable)
        self._powered_on = 0.0
        self.agent = Agent(board, surroundings)
        self.booted_image: str | None = None
        self.last_error: str | None = None

    async def run(self, enter: Enter) -> None:
        """Boot what the override or the boot order says; the same targets are tried until one works."""
        targets = take_targets(self._board)
        self._powered_on = asyncio.get_running_loop().time()
        pause = _SHORTEST_RETRY_SECONDS
        try:
            while True:
                if targets[:1] == ("BiosSetup",):
                    await _rest(enter, "bios-setup", "SetupEntered")
                enter("booting", "OSBootStarted")
                wait = await self._attempt(targets, enter)
                enter("no-bootable-device", "SystemHardwareInitializationComplete")
                await asyncio.sleep(max(wait, pause))
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        finally:
            self.booted_image = None

    async def _attempt(self, targets: tuple[str, ...], enter: Enter) -> float:
        """Boot; returns after how many seconds of the wall clock to try again."""
        retry = self._board.persona.durations.boot_retry
        for target in targets:
            try:
                await self._boot(target, enter)
            except BootError as error:
                self._count_failure(target, error)
                retry = retry if error.retry_after is None else error.retry_after
        return self._board.clock.wall_seconds(retry)

    async def _boot(self, target: str, enter: Enter) -> None:
        """Boot one target; comes back when there is nothing to boot on it. Raises BootError."""
        if target == "Hdd" and self._board.state.installed:
            await self._run_installed(enter)
        boot = await self._load(target)
        if boot is None:
            return
        words = (*boot.words, f"firstlight.boot_id={uuid.uuid4()}")
        image = _word(words, "firstlight.image")
        self.agent.prepare(self._root(boot))
        for file in boot.images:
            file.drop()
        self.last_error = None
        await self.agent.run(words, lambda: self._started(image, enter))

    async def _load(self, target: str) -> Boot | None:
        boot = self._board.persona.boot
        if target == "UefiHttp":
            self._need(boot.http_needs)
            return await self._firmware().boot_http(self._board.state.http_boot_uri or None)
        if target == "Pxe":
            self._need(boot.pxe_needs)
            return await self._firmware().boot_pxe()
        image = self._media.image_for(target) if target in MEDIA else None
        return await self._firmware().boot_media(image) if image else None

    async def _run_installed(self, enter: Enter) -> None:
        self.last_error = None
        self._started(self._board.state.installed, enter)
        await _rest(enter, "running", "OSRunning")

    def _started(self, image: str, enter: Enter) -> None:
        if self.booted_image is None:
            self.booted_image = image
            self._board.state.boots += 1
            self._board.save()
        enter("running", "OSRunning")

    def _root(self, boot: Boot) -> File:
        """The one image whose digest is on the command line; raises BootError when it is not there."""
        wanted = _word(boot.words, "firstlight.root")
        found = next((file for file in boot.images if file.digest == wanted), None)
        if found is None:
            raise BootError(f"the root has the digest {boot.images[0].digest if boot.images else 'of nothing'}")
        if self._board.faults.take("wrong-artefact"):
            changed = found.content[:-1] + bytes([found.content[-1] ^ 0xFF]) if found.content else b"\0"
            raise BootError(f"the root has the digest sha256:{hashlib.sha256(changed).hexdigest()}")
        return found

    def _firmware(self) -> Firmware:
        board = self._board
        return Firmware(
            identity=Identity(
                uuid=board.uuid,
                serial=board.serial,
                mac=board.mac(0),
                ip=f"10.{board.entry.address.partition('.')[2]}",
                arch=board.persona.arch,
                platform="efi" if board.state.boot_mode == "UEFI" else "pcbios",
                manufacturer=board.persona.system.manufacturer,
                product=board.persona.system.model,
            ),
            dhcp=self._dhcp,
            fetcher=self._fetcher,
            sleep=self._sleep,
            secure_boot=board.state.secure_boot,
            strict_http=board.faults.peek("http-boot-refuses-scripts") is not None,
        )

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(self._board.clock.wall_seconds(seconds), _SHORTEST_RETRY_SECONDS))

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


async def _rest(enter: Enter, phase: str, progress: str) -> None:
    enter(phase, progress)
    await asyncio.Event().wait()


def _word(words: tuple[str, ...], name: str) -> str:
    for word in words:
        key, separator, value = word.partition("=")
        if key == name and separator:
            return value
    raise BootError(f"the command line has no {name}=")
