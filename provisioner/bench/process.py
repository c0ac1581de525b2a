"""What a process costs, and the core that it may run on."""

import os
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

from provisioner.errors import BadInput

P = ParamSpec("P")
T = TypeVar("T")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one piece of work. `memory_mib`: how much its peak lies above the resident set before it."""

    seconds: float
    cpu_seconds: float
    memory_mib: float


def cost_of(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> tuple[T, Cost]:
    """Run `work` here and say what this process spent on it."""
    resident_kib = _status_kib(os.getpid(), "VmRSS")
    cpu_seconds, started = own_cpu_seconds(), time.monotonic()
    result = work(*arguments, **named)
    seconds, cpu_seconds = time.monotonic() - started, own_cpu_seconds() - cpu_seconds
    return result, Cost(seconds, cpu_seconds, (peak_kib(os.getpid()) - resident_kib) / 1024)


def apart(core: int, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run `work` in a new process on `core`: nothing that ran before is in its figures. Raises `BadInput`."""
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_stay_on, initargs=(core,))
    with pool:
        try:
            return pool.submit(work, *arguments, **named).result()
        except BrokenProcessPool as error:
            raise BadInput(f"the process of a client ended by itself: {error}") from error


def cores() -> tuple[int, int]:
    """The core of the emulator and that of its clients; the same one where this process may use only one."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """What is started inside stays on `core`."""
    before = os.sched_getaffinity(0)
    _stay_on(core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def own_cpu_seconds() -> float:
    """User and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, in steps of the clock tick (10 ms)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def peak_kib(pid: int) -> int:
    """The peak of its resident set."""
    return _status_kib(pid, "VmHWM")


def _status_kib(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))


def _stay_on(core: int) -> None:
    os.sched_setaffinity(0, {core})
