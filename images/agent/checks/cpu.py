"""CPU: computations with known answers on every usable core at once, each worker pinned to its core."""

import json
import os
import select
import time
from typing import Any, NamedTuple

from images.agent.checks.kernels import KERNELS, Kernel
from images.agent.checks.verdict import Progress, Verdict

_TICK_SECONDS = 0.1
_EXAMPLES = 3


class _Worker(NamedTuple):
    core: int
    process: int
    pipe: int


def check_cpu(parameters: dict[str, float], progress: Progress) -> Verdict:
    """Compute for `seconds`; fail on any wrong answer or when a worker dies."""
    seconds = parameters["seconds"]
    began = time.monotonic()
    workers = [_start_worker(core, began + seconds) for core in sorted(os.sched_getaffinity(0))]
    reports = _collect(workers, began, seconds, progress)
    elapsed = time.monotonic() - began
    return judge(reports, elapsed)


def judge(reports: dict[int, dict[str, Any]], elapsed_seconds: float) -> Verdict:
    """Return the verdict over the report of each core; an empty report is a worker that died. Pure."""
    wrong = [f"core {core}: {example}" for core, report in reports.items() for example in report.get("examples", ())]
    died = [f"core {core}: the worker died" for core, report in reports.items() if not report]
    operations = sum(report.get("operations", 0) for report in reports.values())
    mismatches = sum(report.get("mismatches", 0) for report in reports.values())
    metrics = {
        "operations_per_second": round(operations / elapsed_seconds, 1),
        "mismatches": mismatches,
        "threads": len(reports),
    }
    summary = (
        f"cpu: {operations} operations on {len(reports)} cores in {elapsed_seconds:.2f} s, {mismatches} mismatches"
    )
    status = "fail" if wrong or died else "pass"
    return Verdict(status, metrics, "\n".join([summary, *wrong, *died]))


def compute_until(deadline: float, kernels: tuple[Kernel, ...] = KERNELS) -> dict[str, Any]:
    """Run all kernels over and over, at least once; return counts and the first wrong answers."""
    rounds = operations = mismatches = 0
    examples: list[str] = []
    while rounds == 0 or time.monotonic() < deadline:
        rounds += 1
        for kernel in kernels:
            answer = kernel.compute()
            operations += kernel.operations
            if answer != kernel.answer:
                mismatches += 1
                if len(examples) < _EXAMPLES:
                    examples.append(f"{kernel.name}, round {rounds}: expected {kernel.answer}, got {answer}")
    return {"operations": operations, "mismatches": mismatches, "examples": examples}


def _start_worker(core: int, deadline: float) -> _Worker:
    """Fork: this process has one thread, and a fork costs less than a start of Python per core."""
    read_end, write_end = os.pipe()
    process = os.fork()
    if process:
        os.close(write_end)
        return _Worker(core, process, read_end)
    code = 1
    try:
        os.close(read_end)
        os.sched_setaffinity(0, {core})
        os.write(write_end, json.dumps(compute_until(deadline)).encode())
        code = 0
    finally:
        os._exit(code)


def _collect(workers: list[_Worker], began: float, seconds: float, progress: Progress) -> dict[int, dict[str, Any]]:
    """Return the report of each core, empty where the worker died."""
    content = {worker.pipe: b"" for worker in workers}
    waiting = set(content)
    while waiting:
        progress(min(99.0, 100 * (time.monotonic() - began) / max(seconds, _TICK_SECONDS)))
        for pipe in select.select(waiting, (), (), _TICK_SECONDS)[0]:
            block = os.read(pipe, 65536)
            content[pipe] += block
            if not block:
                waiting.discard(pipe)
    reports = {}
    for worker in workers:
        os.close(worker.pipe)
        exited_well = os.waitpid(worker.process, 0)[1] == 0
        reports[worker.core] = json.loads(content[worker.pipe]) if exited_well else {}
    return reports
