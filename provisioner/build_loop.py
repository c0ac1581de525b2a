"""Builds images that the API was asked for: one at a time on a host, each in a process of its own.

A build that was cut off with its daemon is begun anew by whoever comes next; what it had done already is kept by its
stages. After some attempts it has failed: nothing runs for ever.
"""

import asyncio
import fcntl
import os
import re
import secrets
import shutil
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import structlog

from images.building.request import Stage
from provisioner.capabilities.clock import Clock
from provisioner.capabilities.operations import Operations, Work
from provisioner.models.long_operation import OperationProgress, OperationState, Outcome
from provisioner.services.builds import BUILD

_log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=60)
"""Real time; so long after a daemon died, another takes its build up."""
_ATTEMPTS = 3
_LAST_LINES = 20
_END_SECONDS = 10.0
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_STAGES = tuple(Stage)


@dataclass(frozen=True, slots=True)
class Builder:
    """How builds are run here. `command`: what `image build NAME` goes behind; `options` come after it."""

    data_dir: Path
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = (sys.executable, "-m", "provisioner")
    tell_every: float = 5.0
    lock: int | None = None
    """The open lock file: a build that outlives its daemon keeps it, and no other begins beside it."""


@dataclass(slots=True)
class _Said:
    """What the child said on standard error, as far as it matters."""

    stage: str = ""
    lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_LAST_LINES))

    def hear(self, line: str) -> None:
        self.lines.append(line[:500])
        begun = re.search(r": (\w+) \.\.\.$", line)
        if begun and begun[1] in _STAGES:
            self.stage = begun[1]

    def progress(self) -> OperationProgress:
        percent = 100.0 * _STAGES.index(Stage(self.stage)) / len(_STAGES) if self.stage else None
        return OperationProgress(self.stage, percent, tuple(self.lines))


async def keep_building(clock: Clock, operations: Operations, builder: Builder, period: float) -> None:
    """Until cancelled. `period`: real seconds between looks."""
    holder = secrets.token_hex(8)
    while True:
        try:
            with _alone(builder.data_dir) as lock:
                while lock is not None and await build_next(clock, operations, replace(builder, lock=lock), holder):
                    pass
        except Exception:  # noqa: BLE001  the outermost handler of the loop
            _log.exception("build_not_run")
        await asyncio.sleep(period)


async def build_next(clock: Clock, operations: Operations, builder: Builder, holder: str) -> bool:
    """Take one and build it; False when there is none."""
    work = await operations.take(BUILD, holder, clock.now(), clock.now() + _LEASE)
    if work is None:
        return False
    attempt = work.operation.attempt
    if work.operation.cancelling:
        outcome = Outcome(OperationState.CANCELLED, error="cancelled")
    elif attempt > _ATTEMPTS:
        outcome = Outcome(OperationState.FAILED, error=f"its daemon ended {_ATTEMPTS} times while it was built")
    else:
        _log.info("build_begun", operation=work.operation.id, image=work.operation.order.subject, attempt=attempt)
        outcome = await _build(clock, operations, builder, work)
    kept = await operations.end(work, outcome, clock.now())
    _log.info("build_ended", operation=work.operation.id, state=outcome.state.value, kept=kept)
    return True


async def _build(clock: Clock, operations: Operations, builder: Builder, work: Work) -> Outcome:
    try:
        process = await asyncio.create_subprocess_exec(
            *_ends_with_us(),
            *_command(builder, work),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=builder.data_dir,
            start_new_session=True,
            pass_fds=() if builder.lock is None else (builder.lock,),
        )
    except OSError as error:
        return Outcome(OperationState.FAILED, error=f"the build cannot be started: {error}")
    said, printed = _Said(), deque[str](maxlen=_LAST_LINES)
    hearing = asyncio.gather(_hear(process.stderr, said.hear), _hear(process.stdout, printed.append))
    try:
        while not hearing.done():
            if not await operations.tell(work, said.progress(), clock.now() + _LEASE):
                return Outcome(OperationState.CANCELLED, error="cancelled")
            await asyncio.wait((hearing,), timeout=builder.tell_every)
        return _judge(await process.wait(), said, printed)
    finally:
        hearing.cancel()
        await _end(process)


def _ends_with_us() -> Sequence[str]:
    """The kernel ends the build when the daemon ends, however that happens (PR_SET_PDEATHSIG)."""
    return ("setpriv", "--pdeathsig", "KILL", "--") if shutil.which("setpriv") else ()


def _command(builder: Builder, work: Work) -> Sequence[str]:
    asked = work.operation.order.asked
    update = ("--update",) if asked["update"] else ()
    words = ("image", "build", str(asked["profile"]), "--publish-level", str(asked["level"]), *update)
    return (*builder.command, *words, *builder.options)


async def _hear(stream: asyncio.StreamReader | None, hear: Callable[[str], None]) -> None:
    while stream is not None and (line := await stream.readline()):
        hear(line.decode("utf-8", "replace").strip())


def _judge(status: int, said: _Said, printed: Sequence[str]) -> Outcome:
    digest = next((line for line in reversed(printed) if _DIGEST.fullmatch(line)), None)
    if status == 0 and digest is not None:
        return Outcome(OperationState.SUCCEEDED, result={"image": digest})
    last = [*said.lines, *printed][-3:]
    return Outcome(OperationState.FAILED, error=f"the build ended with status {status}: {'; '.join(last)}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """The child, and whatever it has started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()


@contextmanager
def _alone(data_dir: Path) -> Iterator[int | None]:
    """One daemon of this host builds; None: another does, or a build has outlived its daemon."""
    with (data_dir / "builds.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file.fileno()
