"""BIOS attributes: current ones, and pending ones that a boot of the host applies. DSP0266, settings resource."""

import time
from collections.abc import Mapping
from typing import Any

from emulator.machine.board import Board
from emulator.machine.tasks import Task, Tasks
from emulator.persona.bios import Attribute
from emulator.persona.bios_rules import resolve

_WAITS = "Pending"


class BiosSettings:
    """The BIOS attributes of one host."""

    def __init__(self, board: Board, tasks: Tasks) -> None:
        """As the board remembers them."""
        self._board = board
        self._tasks = tasks
        self.was_read = False  # whether a client has read Bios since the BMC started
        if self.job:
            self.job.cancel = self._drop

    @property
    def current(self) -> dict[str, Attribute | None]:
        """What the host runs with; no password is among it."""
        return {**self._board.persona.factory_bios, **self._board.state.bios}

    @property
    def shown(self) -> dict[str, Any]:
        """What the BMC says that the host runs with."""
        state = self._board.state
        shown: dict[str, Any] = {**self.current, **state.bios_shown}
        if self._board.faults.peek("bios-shows-pending"):
            shown |= state.bios_pending
        return self._masked(shown)

    @property
    def pending(self) -> dict[str, Attribute]:
        """What a boot will apply."""
        return dict(self._board.state.bios_pending)

    @property
    def future(self) -> dict[str, Any]:
        """What the settings object shows: what is pending, or all attributes as they will be."""
        every = self.current if self._board.persona.bios.shows == "all" else {}
        return self._masked({**every, **self.pending})

    @property
    def rejected(self) -> list[str]:
        """What the last boot refused to apply."""
        return list(self._board.state.bios_rejected)

    @property
    def job(self) -> Task | None:
        """The job that waits for a boot to apply what is pending."""
        identity = self._board.state.bios_job
        return self._tasks.find(identity) if identity else None

    @property
    def makes_jobs(self) -> bool:
        """Whether an apply time makes a job."""
        return self._board.persona.bios.job or self._board.faults.peek("bios-config-job") is not None

    @property
    def needs_commit(self) -> bool:
        """Whether pending values stay pending without an apply time or a job."""
        bios, faults = self._board.persona.bios, self._board.faults
        return bios.commit or self.makes_jobs or faults.peek("bios-needs-apply-time") is not None

    def stage(self, attributes: Mapping[str, Attribute]) -> None:
        """Keep these for a boot, with what is pending already; what needs no reset is in force at once."""
        state, known = self._board.state, self._board.persona.bios.attributes
        for name, value in attributes.items():
            if known[name].reset_required or self.makes_jobs:
                state.bios_pending[name] = value
            else:
                self._take({name: value})
        if not self.needs_commit:
            self.commit("OnReset")
        self._board.save()

    def stage_factory(self) -> None:
        """Let the next boot go back to the factory values."""
        factory = self._board.persona.factory_bios
        restored = {name: factory[name] for name in self._board.state.bios}
        self._board.state.bios_pending = {name: value for name, value in restored.items() if value is not None}
        self.commit("OnReset")

    def commit(self, apply_time: str, window: tuple[float, float] | None = None) -> None:
        """Let boots apply what is pending; `window`: only those between these times."""
        state = self._board.state
        if state.bios_pending:
            state.bios_apply = apply_time
            state.bios_window = list(window or ())
        self._board.save()

    def schedule(self) -> Task:
        """Make a job of what is pending; whoever cancels it loses the values. Raises TasksFullError."""
        task = self._tasks.create("Configure: BIOS.Setup.1-1")
        task.state, task.job_state, task.job_type = _WAITS, "Scheduled", "BIOSConfiguration"
        task.cancel = self._drop
        self._board.state.bios_job = task.id
        self.commit(self._board.state.bios_apply or "OnReset")
        self._tasks.keep()
        return task

    def apply(self) -> None:
        """The host boots: pending attributes become current, unless they wait for more or a fault keeps them out."""
        state = self._board.state
        state.bios_shown = {}
        if not self._is_due():
            return
        waiting, state.bios_pending, state.bios_apply = state.bios_pending, {}, ""
        if self.job:
            self.job.run(self._board.clock.wall_seconds(self._board.persona.durations.post))
            self.job.job_state, self.job.cancel = "Running", None
        if self._board.faults.take("bios-job-changes-nothing"):
            return
        refused = self._refused(waiting)
        state.bios_rejected = sorted(refused)
        state.bios_applied_at = time.time()
        before = self.current
        self._take({name: value for name, value in waiting.items() if name not in refused})
        if self._board.faults.take("bios-shows-old-values"):
            state.bios_shown = {name: before[name] for name in waiting}

    def finish(self) -> None:
        """POST is over: a job that ran in it is done."""
        task, state = self.job, self._board.state
        if task and task.state == _WAITS:
            return
        state.bios_job = ""
        if task is None:
            return
        if state.bios_rejected:
            task.end("Exception", f"Not applied: {', '.join(state.bios_rejected)}.")
        else:
            task.end("Completed", "Job completed successfully.")
        task.job_state = "Failed" if state.bios_rejected else "Completed"
        self._tasks.ended(task)

    def restore_factory(self) -> None:
        """All attributes as they left the factory, at once: what some updates of the BIOS do."""
        self._board.state.bios, self._board.state.bios_pending = {}, {}

    def take_cycle(self) -> bool:
        """Whether an AC power cycle was asked for by an attribute; asking is used up."""
        request = self._board.persona.bios.cycle
        if request is None or self._board.state.bios.get(request.attribute) != request.value:
            return False
        del self._board.state.bios[request.attribute]
        return True

    def forget(self) -> None:
        """The BMC restarts."""
        self.was_read = False

    def _drop(self) -> bool:
        state = self._board.state
        state.bios_pending, state.bios_job, state.bios_apply = {}, "", ""
        self._board.save()
        return True

    def _is_due(self) -> bool:
        state = self._board.state
        if not state.bios_pending or (self.needs_commit and not state.bios_apply):
            return False
        if not state.bios_window:
            return True
        begin, end = state.bios_window
        return begin <= time.time() <= end

    def _refused(self, waiting: Mapping[str, Attribute]) -> set[str]:
        fault = self._board.faults.take("bios-late-rejection")
        return set(fault["attributes"] or waiting) & set(waiting) if fault else set()

    def _take(self, accepted: Mapping[str, Attribute]) -> None:
        """These become current, with what the registry's dependencies make of others."""
        factory, state = self._board.persona.factory_bios, self._board.state
        state.bios_passwords |= {name: str(value) for name, value in accepted.items() if self._is_secret(name)}
        open_ones = {name: value for name, value in accepted.items() if not self._is_secret(name)}
        changed = resolve(self._board.persona.bios, {**self.current, **open_ones}).values
        state.bios = {
            name: value
            for name, value in changed.items()
            if value is not None and name in factory and value != factory[name]
        }

    def _masked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: None if self._is_secret(name) else value for name, value in values.items()}

    def _is_secret(self, name: str) -> bool:
        return self._board.persona.bios.attributes[name].type == "Password"
