"""One update from its first byte to the end of its task."""

import asyncio
from collections.abc import Sequence

import aiohttp
import structlog

from emulator.machine.board import Board
from emulator.machine.firmware_slots import Slots
from emulator.machine.flash_choice import Choice, Work
from emulator.machine.task_notes import Note, update_note
from emulator.machine.tasks import Task, Tasks
from emulator.machine.update_orders import Order

_log = structlog.get_logger()
_STAGES = (
    (0.1, "TransferringToComponent"),
    (0.1, "VerifyingAtComponent"),
    (0.7, "InstallingOnComponent"),
    (0.1, "ApplyingOnComponent"),
)


class Flash:
    """Runs one update. `restarts_bmc` is true when the BMC has to restart after it."""

    def __init__(self, board: Board, slots: Slots, tasks: Tasks, order: Order, task: Task) -> None:
        """`task` is the one that the client watches."""
        self._board = board
        self._slots = slots
        self._tasks = tasks
        self._order = order
        self.task = task
        self.restarts_bmc = False
        self._ends_as = "Exception"
        self.staged: tuple[str, ...] = ()
        """The slots that hold its image now."""
        self.later: tuple[Work, ...] = ()
        """What the host has to write in its next POST."""

    async def run(self) -> None:
        """To the end of the task, or until nothing more happens before the host starts."""
        self.task.state = "Running"
        self.task.job_state = "Downloading"
        try:
            works = Choice(self._board, self._slots, self._order, self.task).works(await self._order.load())
            self._announce(works)
            if self._waits_for_post(works):
                self._schedule(works)
                return
            await self.write(works)
        except asyncio.CancelledError:
            self._slots.interrupt()
            raise
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            self.fail(f"The update failed: {error}")

    async def write(self, works: Sequence[Work]) -> None:
        """Write what has been planned, one component after the other. Raises ValueError."""
        self.task.job_state = ""
        total = sum(work.component.flash_seconds for work in works)
        self.task.run(self._board.clock.wall_seconds(total))
        self._hold_percent()
        done: list[Work] = []
        failed: list[Work] = []
        for work in works:
            try:
                await self._install(work)
            except ValueError:
                if len(works) == 1 or not work.header.sku:
                    raise
                failed.append(work)
                if not work.header.continues:
                    break
            else:
                done.append(work)
        self._end(done, failed)

    def fail(self, text: str) -> None:
        """The task ends; nothing has been flashed."""
        self.task.end("Exception", text)
        self._tasks.ended(self.task)
        _log.info("update failed", bmc=self._board.entry.name, reason=text)

    def _announce(self, works: Sequence[Work]) -> None:
        for work in works:
            for slot in work.slots:
                self.task.say(update_note("TargetDetermined", slot.key, work.image))
        self.task.say(update_note("AllTargetsDetermined"))

    def _waits_for_post(self, works: Sequence[Work]) -> bool:
        if not works:
            return False
        forced = self._board.faults.peek("job-waits-for-reset")
        asked = self._order.apply in ("OnReset", "InMaintenanceWindowOnReset")
        wanted = bool(forced and forced["component"] in ("", works[0].header.component)) or asked
        return wanted and all(work.component.runs_in_post or forced for work in works)

    def _schedule(self, works: Sequence[Work]) -> None:
        self.task.state = "Pending"
        self.task.job_state = "Scheduled"
        for work in works:
            for slot in work.slots:
                self.task.say(update_note("AwaitToUpdate", work.image, slot.key))
        self.later = tuple(works)

    async def _install(self, work: Work) -> None:
        parts = self._parts(work)
        for share, key in _STAGES:
            self._say(work, parts, key)
            writes = key in ("InstallingOnComponent", "ApplyingOnComponent")
            self._slots.writing = tuple(slot.key for slot in work.slots) if writes else ()
            self.task.cancel = None if writes else self.task.cancel
            await self._board.clock.sleep(work.component.flash_seconds * share)
            if key == "VerifyingAtComponent":
                self._verify(work, parts)
            if writes and self._board.faults.peek("task-never-ends"):
                await asyncio.Event().wait()
        self._slots.writing = ()
        for part in parts:
            part.end("Completed", "The update was transferred and verified.")

    def _verify(self, work: Work, parts: Sequence[Task]) -> None:
        fault = self._board.faults.peek("component-fails")
        broken = bool(fault and fault["component"] in ("", work.header.component))
        if broken and fault:
            self._board.faults.take("component-fails")
            self._ends_as = str(fault["state"])
        if broken or self._board.faults.take("task-fails"):
            for slot in work.slots:
                self.task.say(update_note("VerificationFailed", work.image, slot.key))
            for part in parts:
                part.end("Exception", "The image could not be verified.")
            raise ValueError("the image could not be verified")

    def _parts(self, work: Work) -> list[Task]:
        if not self._board.persona.tasks.sub_tasks or len(work.slots) < 2:
            return []
        wall = self._board.clock.wall_seconds(work.component.flash_seconds)
        parts = [self._tasks.create(f"{self.task.name}: {slot.key}", self.task.id) for slot in work.slots]
        for part in parts:
            part.run(wall)
        return parts

    def _say(self, work: Work, parts: Sequence[Task], key: str) -> None:
        for number, slot in enumerate(work.slots):
            note = update_note(key, work.image, slot.key)
            (parts[number] if parts else self.task).say(note)
        self._board.touch()

    def _hold_percent(self) -> None:
        fault = self._board.faults.take("task-percent-constant")
        self.task.held_percent = int(fault["percent"]) if fault else None
        if self._board.faults.peek("task-oem-messages"):
            text = str((self._board.faults.take("task-oem-messages") or {})["message_id"])
            self.task.say(Note(text, "The component reported status 0x17.", ("0x17",), "Warning"))

    def _end(self, works: Sequence[Work], failed: Sequence[Work]) -> None:
        ends = self._board.faults.take("task-ends")
        for work in works:
            if self._keeps_old(work) or (ends and ends["version"] == "old"):
                continue
            self._stage(work)
        if ends:
            note = Note(str(ends["message_id"]), "The operation has ended.", (), str(ends["status"]))
            self.task.end(str(ends["state"]), note)
            self.task.status = str(ends["status"])
        elif failed:
            text = f"Not written: {', '.join(work.image for work in failed)}"
            self.task.end(self._ends_as, text)
            self.task.status = "Critical" if self._ends_as == "Exception" else "Warning"
        else:
            self.task.end("Completed", "The update was transferred and verified.")
        self.restarts_bmc = bool(ends and ends["bmc_reset"]) or (
            not self._order.stage_only
            and self._order.apply in ("Immediate", "OnStartUpdateRequest", "AtMaintenanceWindowStart")
            and any(work.component.activation == "bmc_reset" for work in works)
        )
        self._tasks.ended(self.task)

    def _keeps_old(self, work: Work) -> bool:
        fault = self._board.faults.peek("flash-completes-old-version")
        if not fault or fault["component"] not in ("", work.header.component):
            return False
        self._board.faults.take("flash-completes-old-version")
        return True

    def _stage(self, work: Work) -> None:
        waits = self._order.stage_only or self._order.apply in ("OnReset", "InMaintenanceWindowOnReset")
        until = "host_reset" if waits and work.component.activation == "none" else None
        self._slots.stage(work.slots, work.header.version, until)
        self.staged += tuple(slot.key for slot in work.slots)
        for slot in work.slots:
            done = self._slots.staged(slot.key) is None
            note = ("UpdateSuccessful", slot.key, work.image) if done else ("AwaitToActivate", work.image, slot.key)
            self.task.say(update_note(*note))
