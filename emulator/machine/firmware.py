"""Firmware of one machine: what runs, what is staged, and flashing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import aiohttp
import structlog

from emulator.machine.board import Board
from emulator.machine.tasks import Task, Tasks
from emulator.package import Header, read_header
from emulator.persona.firmware import Slot

Load = Callable[[], Awaitable[bytes]]
_log = structlog.get_logger()


class Firmware:
    """The firmware slots. `restart_bmc` is called when new BMC firmware is in place."""

    def __init__(self, board: Board, tasks: Tasks, restart_bmc: Callable[[], None]) -> None:
        """As the board remembers it."""
        self._board = board
        self._tasks = tasks
        self._restart_bmc = restart_bmc
        self._flash: asyncio.Task[None] | None = None
        self._inventory: dict[str, Slot] | None = None
        self.push_targets: list[str] = []

    @property
    def busy(self) -> bool:
        """Whether an update runs."""
        return self._flash is not None and not self._flash.done()

    def inventory(self) -> dict[str, Slot]:
        """The slots by their inventory ids of now."""
        if self._inventory is None:
            slots = self._board.persona.slots.values()
            self._inventory = {slot.inventory_id(self._board.version(slot.key)): slot for slot in slots}
        return self._inventory

    def staged(self, key: str) -> str | None:
        """The version that waits for its activation."""
        return self._board.state.staged.get(key)

    def begin(self, name: str, load: Load, targets: Sequence[Slot]) -> Task:
        """Start an update; without targets it is for every device of the package's component class."""
        task = self._tasks.create(name)
        fault = self._board.faults.peek("task-vanishes")
        if fault and fault["when"] == "start":
            self._board.faults.take("task-vanishes")
            self._tasks.forget(task)
        self._flash = asyncio.create_task(self._update(task, load, targets))
        return task

    def activate(self, cause: str) -> None:
        """Make what waits for `cause` run: bmc_reset, host_reset or power_cycle."""
        for key in list(self._board.state.staged):
            component = self._board.persona.components[self._board.persona.slots[key].component]
            if component.activation == cause:
                self._run(key)

    def abort(self) -> None:
        """The BMC goes away; an update that runs is lost."""
        if self._flash:
            self._flash.cancel()

    async def _update(self, task: Task, load: Load, targets: Sequence[Slot]) -> None:
        task.state = "Running"
        try:
            header = read_header(await load())
            await self._write(task, header, self._check(header, targets))
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            task.end("Exception", f"The update failed: {error}")
            _log.info("update failed", bmc=self._board.entry.name, reason=str(error))

    def _check(self, header: Header, targets: Sequence[Slot]) -> Sequence[Slot]:
        if header.hardware != self._board.persona.name:
            raise ValueError(f"the package is for {header.hardware}")
        slots = self._board.persona.slots.values()
        wanted = targets or [slot for slot in slots if slot.component == header.component and slot.updateable]
        wrong = [slot.key for slot in wanted if slot.component != header.component]
        if wrong or not wanted:
            raise ValueError(
                f"the package is for {header.component}, which {', '.join(wrong) or 'nothing here'} is not"
            )
        return wanted

    async def _write(self, task: Task, header: Header, targets: Sequence[Slot]) -> None:
        component = self._board.persona.components[header.component]
        task.run(self._board.clock.wall_seconds(component.flash_seconds))
        await self._board.clock.sleep(component.flash_seconds)
        if self._board.faults.take("task-fails"):
            raise ValueError("the image could not be verified")
        fault = self._board.faults.peek("flash-completes-old-version")
        if fault and fault["component"] in ("", header.component):
            self._board.faults.take("flash-completes-old-version")
        else:
            self._stage(header, targets)
        task.end("Completed", "The update was transferred and verified.")
        fault = self._board.faults.peek("task-vanishes")
        if fault and fault["when"] == "completion":
            self._board.faults.take("task-vanishes")
            self._tasks.forget(task)
        if component.activation == "bmc_reset":
            self._restart_bmc()

    def _stage(self, header: Header, targets: Sequence[Slot]) -> None:
        state = self._board.state
        for slot in targets:
            counts = state.flashes.setdefault(slot.key, {})
            counts[header.version] = counts.get(header.version, 0) + 1
            state.staged[slot.key] = header.version
        if self._board.persona.components[header.component].activation == "none":
            for slot in targets:
                self._run(slot.key)
        self._board.save()

    def _run(self, key: str) -> None:
        self._board.state.firmware[key] = self._board.state.staged.pop(key)
        self._inventory = None
