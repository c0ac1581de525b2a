"""The host: power with phases, POST, then whatever boots. One task per machine that is on; none while it is off."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Protocol

from emulator.background import run_in_background
from emulator.machine.board import Board
from emulator.machine.thermals import Heat
from emulator.tree import places

_POST = (
    (0.2, "PrimaryProcessorInitializationStarted"),
    (0.5, "MemoryInitializationStarted"),
    (0.3, "SystemHardwareInitializationComplete"),
)
_SETTLES_SECONDS = 1.0


class Boot(Protocol):
    """What happens after POST; leaves nothing behind when it is cancelled, or when the host powers itself off."""

    async def run(self, enter: Callable[[str, str], None]) -> None:
        """Boot; `enter` takes each phase and its BootProgress state. Comes back when the host powers itself off."""


class Host:
    """Power of one host. `activate(cold)` is called whenever the host starts again; cold after a power cycle."""

    def __init__(self, board: Board, boot: Boot, activate: Callable[[bool], None]) -> None:
        """Nothing runs before `resume` or `turn_on`."""
        self._board = board
        self._boot = boot
        self._activate = activate
        self.write_in_post: Callable[[Callable[[str, str], None]], Awaitable[None]] = _write_nothing
        self._task: asyncio.Task[None] | None = None
        self.phase = "off"
        self.progress = "None"
        self._told: tuple[str, ...] = ()  # what the logs know of this boot; another try says nothing new
        self.heat = Heat(board.clock)
        self.started_at = datetime.now(UTC)
        self.posted: Callable[[], None] = lambda: None  # called at the end of POST
        self.asked_at = -math.inf  # when somebody asked for another power state, by the monotonic clock
        self.power_before = self.power

    @property
    def power(self) -> str:
        """On or Off, as PowerState shows it."""
        return self._board.state.power

    def resume(self) -> None:
        """Go on where the emulator was ended: a host that was on boots again."""
        if self.power == "On":
            self._begin(self._start(cold=False))

    def turn_on(self) -> None:
        """Power on; nothing happens when it is on or going on."""
        if self.phase in ("off", "powering-off"):
            self._count_switch()
            self._begin(self._power_up())

    def turn_off(self) -> None:
        """Power off; whatever runs is killed at once."""
        if self.phase not in ("off", "powering-off"):
            self._count_switch()
            self._begin(self._power_down())

    def shut_down(self) -> None:
        """Let the operating system end, then power off; without one, power off at once."""
        if self.phase == "running" and not self._board.faults.take("shutdown-ignored"):
            self._begin(self._shut_down(self._drop))
        elif self.phase not in ("running", "shutting-down"):
            self.turn_off()

    def restart_gracefully(self) -> None:
        """Let the operating system end, then reset; without one, reset at once."""
        if self.phase != "running" or self._board.faults.take("graceful-restart-is-hard"):
            self.restart()
        elif not self._board.faults.take("shutdown-ignored"):
            self._count_reset()
            self._begin(self._shut_down(self._start_warm))

    def interrupt(self) -> None:
        """A non-maskable interrupt: an operating system panics and restarts; nothing else hears it."""
        if self.phase == "running":
            self.restart()

    async def settled(self) -> None:
        """Wait until what was asked for last has happened, unless it goes on as long as the host is on."""
        if self._task:
            await asyncio.wait([self._task], timeout=_SETTLES_SECONDS)

    def restart(self) -> None:
        """Reset without loss of power."""
        self._count_reset()
        self._begin(self._start(cold=False))

    def cycle(self) -> None:
        """Power off, then on."""
        self._count_reset()
        self._begin(self._power_cycle())

    def lose_power(self) -> None:
        """Power goes away this instant."""
        self._begin(self._drop())

    async def stop(self) -> None:
        """End everything that runs, as the emulator ends; the power state is kept."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = run_in_background(_after(self._task, work), f"host of {self._board.entry.name}")

    def _count_reset(self) -> None:
        self._board.state.resets += 1
        self._board.save()

    def _count_switch(self) -> None:
        self._board.state.switched += 1
        self._board.save()

    async def _power_up(self) -> None:
        self._enter("powering-on", "None")
        await self._board.clock.sleep(self._board.persona.durations.power_on)
        await self._start(cold=True)

    async def _power_down(self) -> None:
        self._enter("powering-off", "None")
        await self._board.clock.sleep(self._board.persona.durations.power_off)
        await self._drop()

    async def _shut_down(self, then: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._enter("shutting-down", "OSRunning")
        await self._board.clock.sleep(self._board.persona.durations.shutdown)
        await then()

    async def _start_warm(self) -> None:
        await self._start(cold=False)

    async def _power_cycle(self) -> None:
        await self._power_down()
        await self._power_up()

    async def _drop(self) -> None:
        if self._board.state.power == "On":
            self._tell("ResourceEvent.ResourcePoweredOff")
        self._board.state.power = "Off"
        self._board.save()
        self._enter("off", "None")

    async def _start(self, *, cold: bool) -> None:
        if self._board.state.power != "On":
            self._tell("ResourceEvent.ResourcePoweredOn")
        self._board.state.power = "On"
        self.started_at = datetime.now(UTC)
        self._told = ()
        self._activate(cold)
        self._board.save()
        await self.write_in_post(self._enter)
        for share, state in _POST:
            self._enter("post", state)
            await self._board.clock.sleep(self._board.persona.durations.post * share)
        if self._board.faults.take("power-lost-while-booting"):
            await self._drop()
            return
        self.posted()
        await self._boot.run(self._enter)
        await self._drop()

    def _enter(self, phase: str, progress: str) -> None:
        if progress not in (*self._told, "None"):
            self._told = (*self._told, progress)
            where = places.host(self._board.persona)
            self._board.events.publish(
                "OpenBMC.BootProgress", progress, origin=where, topic="host", sensor="System Firmware Progress"
            )
        self.phase = phase
        self.progress = progress
        self.heat.enter(phase)
        self._board.touch()

    def _tell(self, key: str) -> None:
        where = places.host(self._board.persona)
        self._board.events.publish(key, where, origin=where, topic="host", sensor="System ACPI PowerState")


async def _write_nothing(_enter: Callable[[str, str], None]) -> None:
    """No firmware waits for POST."""


async def _after(previous: asyncio.Task[None] | None, work: Awaitable[None]) -> None:
    if previous and not previous.done():
        previous.cancel()
        await asyncio.wait([previous])
    await work
