"""Firmware of one machine: updates that run, wait or were uploaded, and what they change."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from emulator.background import run_in_background
from emulator.machine.board import Board
from emulator.machine.firmware_slots import Slots
from emulator.machine.flash import Flash
from emulator.machine.flash_choice import Work
from emulator.machine.task_notes import update_note
from emulator.machine.tasks import Task, Tasks
from emulator.machine.update_orders import Order, PushOptions, Upload, Uploads
from emulator.package import Header, Image
from emulator.persona.firmware import Slot

Enter = Callable[[str, str], None]
_IN_POST = "SystemHardwareInitializationComplete"


class Firmware:
    """The firmware slots. `restart_bmc` is called when new BMC firmware is in place."""

    def __init__(self, board: Board, tasks: Tasks, restart_bmc: Callable[[], None]) -> None:
        """As the board remembers it."""
        self._board = board
        self._tasks = tasks
        self._restart_bmc = restart_bmc
        self._running: dict[asyncio.Task[None], Flash] = {}
        self._staged_by: dict[str, Task] = {}
        self.slots = Slots(board)
        self.slots.refused = self._activation_failed
        self.uploads = Uploads(board)
        self.push = PushOptions()
        self.restarts = False
        """Whether the BMC is about to restart by itself."""
        self.failed = False
        """Whether an update has failed since the BMC started."""
        self.restart_host: Callable[[], None] = lambda: None

    @property
    def busy(self) -> bool:
        """Whether an update runs."""
        fault = self._board.faults.peek("foreign-task")
        return bool(fault and fault["busy"]) or any(
            flash.task.state in ("New", "Running") for flash in self._running.values()
        )

    def inventory(self) -> dict[str, Slot]:
        """The slots by their inventory ids of now."""
        return self.slots.inventory()

    def staged(self, key: str) -> str | None:
        """The version that waits for its activation."""
        return self.slots.staged(key)

    def begin(self, order: Order) -> Task:
        """Start an update, or let it wait for its window. Raises TasksFullError."""
        task = self._tasks.create(order.name)
        task.request_path, task.request_body = order.request_path, order.request_body
        if order.window and order.apply == "AtMaintenanceWindowStart" and order.window[0] > time.time():
            task.state, task.job_state = "Pending", "Scheduled"
        self._vanish(task, "start")
        flash = Flash(self._board, self.slots, self._tasks, order, task)
        work = run_in_background(self._run(flash, order), f"update of {self._board.entry.name}")
        self._running[work] = flash
        work.add_done_callback(self._forget)
        task.cancel = lambda: self._cancel(work, task)
        return task

    def take_up(self, upload: Upload, order: Order) -> Order:
        """The order to write an image that was sent before, which waits no more; `order` says how."""
        slots = self._board.persona.slots
        targets = None if upload.targets is None else tuple(slots[key] for key in upload.targets if key in slots)
        image = Image(b"", upload.size_bytes, upload.headers)

        async def load() -> Image:
            return image

        self.uploads.remove(upload)
        own = order.targets is not None
        return replace(
            order,
            load=load,
            targets=order.targets if own else targets,
            group=order.group if own else upload.group,
            force=order.force or upload.force,
            request_path=upload.request_path or order.request_path,
            request_body=upload.request_body or order.request_body,
        )

    def activate(self, cause: str) -> None:
        """Make what waits for `cause`, or for less, run: bmc_reset, host_reset, power_cycle, aux_cycle, ac_cycle."""
        self.slots.activate(cause)

    def resume(self) -> None:
        """The emulator, or the power, is back: what was being copied is copied again."""
        self.slots.copy.resume()

    def abort(self) -> None:
        """The BMC goes away; an update that runs is lost, what the BMC knew of versions is read again."""
        for work in list(self._running):
            work.cancel()
        self.slots.refresh()
        self.push = PushOptions()
        self.restarts = self.failed = False
        if not self._board.persona.tasks.kept:
            self._board.state.scheduled = []

    async def run_in_post(self, enter: Enter) -> None:
        """The host starts: write what has been scheduled for this; it stays in POST meanwhile."""
        for kept in list(self._board.state.scheduled):
            if kept["until"] is not None and not kept["from"] <= time.time() <= kept["until"]:
                continue
            self._board.state.scheduled.remove(kept)
            enter("post", _IN_POST)
            await self._write_in_post(kept)

    async def _write_in_post(self, kept: dict[str, Any]) -> None:
        task = self._tasks.find(kept["task"]) or Task(kept["task"], "Firmware update")
        order = Order(_nothing, apply="OnReset")
        flash = Flash(self._board, self.slots, self._tasks, order, task)
        slots, components = self._board.persona.slots, self._board.persona.components
        works = [
            Work(Header(**one["header"]), components[one["header"]["component"]], tuple(slots[k] for k in one["keys"]))
            for one in kept["works"]
        ]
        try:
            await flash.write(works)
        except ValueError as error:
            flash.fail(f"The update failed: {error}")
        except asyncio.CancelledError:
            self.slots.interrupt()
            flash.fail("The update failed: the host lost its power")
            raise
        self.slots.run_now([slot for work in works for slot in work.slots])
        self._vanish(task, "completion")

    def unschedule(self, task: Task) -> bool:
        """Take a job that waits for a reset of the host out of the queue; false when there is none."""
        kept = [one for one in self._board.state.scheduled if one["task"] == task.id]
        for one in kept:
            self._board.state.scheduled.remove(one)
        return bool(kept)

    async def _run(self, flash: Flash, order: Order) -> None:
        if flash.task.state == "Pending" and order.window:
            await asyncio.sleep(order.window[0] - time.time())
        await flash.run()
        if flash.later:
            self._schedule(flash, order)
        if order.reboots and flash.task.state in ("Pending", "Completed"):
            self.restart_host()
        if flash.later:
            return
        self.failed = self.failed or flash.task.state == "Exception"
        self._staged_by.update(dict.fromkeys(flash.staged, flash.task))
        self._vanish(flash.task, "completion")
        if flash.restarts_bmc:
            self.restarts = True
            self._restart_bmc()

    def _schedule(self, flash: Flash, order: Order) -> None:
        works = [{"header": asdict(work.header), "keys": [slot.key for slot in work.slots]} for work in flash.later]
        begins, ends = order.window or (None, None)
        entry = {"task": flash.task.id, "works": works, "from": begins, "until": ends}
        self._board.state.scheduled.append(entry)
        flash.task.cancel = lambda: self._drop(flash.task)
        self._board.save()
        self._tasks.keep()

    def _drop(self, task: Task) -> bool:
        dropped = self.unschedule(task)
        task.end("Cancelled", "The job was taken out of the queue.")
        self._tasks.ended(task)
        return dropped

    def _forget(self, work: "asyncio.Task[None]") -> None:
        self._running.pop(work, None)

    def _cancel(self, work: "asyncio.Task[None]", task: Task) -> bool:
        work.cancel()
        task.end("Cancelled", "The update was cancelled; nothing has been written.")
        self._tasks.ended(task)
        return True

    def _vanish(self, task: Task, when: str) -> None:
        fault = self._board.faults.peek("task-vanishes")
        if fault and fault["when"] == when:
            self._board.faults.take("task-vanishes")
            self._tasks.forget(task)

    def _activation_failed(self, key: str, version: str) -> None:
        task = self._staged_by.get(key)
        if task:
            task.say(update_note("ActivateFailed", version, key))
            task.status = "Warning"


async def _nothing() -> Image:
    return Image(b"", 0)
