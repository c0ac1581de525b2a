"""What a host boots: from the network, from virtual media, from its disk; again and again until it works."""

import asyncio
import uuid
from collections.abc import Callable

import structlog

from emulator.machine.agent import Agent
from emulator.machine.bios_settings import BiosSettings
from emulator.machine.board import Board
from emulator.machine.boot_order import take_targets
from emulator.machine.secure_boot import SecureBoot
from emulator.machine.surroundings import Surroundings
from emulator.machine.virtual_media import VirtualMedia
from emulator.netboot.boot_error import BootError, LostPower, PowersOff
from emulator.netboot.boot_words import needed
from emulator.netboot.curl import Curl
from emulator.netboot.fetch import Fetcher, HeadRule
from emulator.netboot.identity import Identity
from emulator.netboot.initrd import Around, Initrd
from emulator.netboot.ipxe import Boot
from emulator.netboot.programs import Firmware
from emulator.persona.boot import MEDIA

_SHORTEST_RETRY_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 4.0
_CONSOLE_SECONDS = 60.0  # what is on the console can be read before the host powers off
_log = structlog.get_logger()

Enter = Callable[[str, str], None]


class NetworkBoot:
    """Boots one host."""

    def __init__(self, board: Board, bios: BiosSettings, media: VirtualMedia, surroundings: Surroundings) -> None:
        """Nothing runs."""
        self._board = board
        self._bios = bios
        self._media = media
        self._secure_boot = SecureBoot(board)
        self._dhcp = surroundings.dhcp
        around = (surroundings.client, surroundings.fetches_at_once, self._check_reachable)
        self._fetcher, self._curl = Fetcher(*around), Curl(*around)
        self._powered_on = 0.0
        self.agent = Agent(board, surroundings)
        self.booted_image: str | None = None
        self.last_error: str | None = None

    async def run(self, enter: Enter) -> None:
        """Boot what the override or the boot order says; the same targets are tried until one works.

        Comes back when the host powers itself off, or loses power.
        """
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
        except PowersOff:
            await self._board.clock.sleep(_CONSOLE_SECONDS)
        except LostPower:
            return
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
                if isinstance(error, PowersOff | LostPower):
                    raise
                retry = retry if error.retry_after is None else error.retry_after
        return self._board.clock.wall_seconds(retry)

    async def _boot(self, target: str, enter: Enter) -> None:
        """Boot one target; comes back when there is nothing to boot on it. Raises BootError."""
        if target == "Hdd" and self._board.state.installed:
            await self._run_installed(enter)
        boot = await self._load(target)
        if boot is None:
            return
        image = needed(boot.words, "image")
        booted = await Initrd(self._around(target)).run(boot)
        words = (*booted.words, f"firstlight.boot_id={uuid.uuid4()}")
        self.agent.prepare(booted.root)
        for file in boot.images:
            file.drop()
        self.last_error = None
        await self.agent.run(words, lambda: self._started(image, enter))

    async def _load(self, target: str) -> Boot | None:
        boot = self._board.persona.boot
        if target == "UefiHttp":
            self._need(boot.http_needs)
            return await self._firmware().boot_http(await self._http_boot_uri())
        if target == "Pxe":
            self._need(boot.pxe_needs)
            return await self._firmware().boot_pxe()
        image = self._media.image_for(target) if target in MEDIA else None
        return await self._firmware().boot_media(image) if image else None

    async def _http_boot_uri(self) -> str | None:
        """What the BMC was told, when firmware asks for it; None: what DHCP offers."""
        delay = self._board.faults.take("http-boot-delayed")
        if delay:
            await self._board.clock.sleep(float(delay["seconds"]))
        ignored = self._board.state.http_boot_uri and self._board.faults.take("http-boot-uri-ignored")
        return None if ignored else self._board.state.http_boot_uri or None

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

    def _firmware(self) -> Firmware:
        return Firmware(
            identity=self._identity(),
            dhcp=self._dhcp,
            fetcher=self._fetcher,
            sleep=self._sleep,
            trusted=self._secure_boot.trusted(),
            head=self._head_rule(),
        )

    def _head_rule(self) -> HeadRule:
        if self._board.faults.take("http-boot-needs-head"):
            return "needs"
        return "skips" if self._board.faults.take("http-boot-head-refused") else "asks"

    def _around(self, target: str) -> Around:
        board = self._board
        seconds = board.persona.durations.initrd
        return Around(
            self._identity(), board.faults, board.clock, self._curl, seconds, lambda reason: self._tell(target, reason)
        )

    def _identity(self) -> Identity:
        board = self._board
        return Identity(
            uuid=board.uuid,
            serial=board.serial,
            mac=board.mac(0),
            ip=f"10.{board.entry.address.partition('.')[2]}",
            arch=board.persona.arch,
            platform="efi" if board.state.boot_mode == "UEFI" else "pcbios",
            manufacturer=board.persona.system.manufacturer,
            product=board.persona.system.model,
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
        self._tell(target, str(error))

    def _tell(self, target: str, reason: str) -> None:
        told = f"{target}: {reason}"
        if told != self.last_error:
            _log.info("boot failed", bmc=self._board.entry.name, target=target, reason=reason)
        self.last_error = told


async def _rest(enter: Enter, phase: str, progress: str) -> None:
    enter(phase, progress)
    await asyncio.Event().wait()
