"""What the checks of a burn-in find on a healthy server of the persona, or on one with a fault."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from emulator.faults.active import ActiveFaults
from emulator.persona.persona import Persona

_SPREAD = 0.02
_TFLOPS = {"A100": 270.0, "H100": 730.0, "H200": 730.0, "B200": 1550.0, "B300": 1550.0, "L40": 150.0}
"""BF16, by a part of the model (gpu-fryer, README; L40: its data sheet says 181 at most)."""
_MEMORY_MEBIBYTES_PER_SECOND = 9000.0
_DISK_MEBIBYTES_PER_SECOND = 2400.0
_OPERATIONS_PER_CORE = 180_000.0


@dataclass(frozen=True, slots=True)
class Item:
    """One check of a plan."""

    id: str
    kind: str
    parameters: Mapping[str, float]
    deadline_seconds: float


@dataclass(frozen=True, slots=True)
class Finding:
    """`wall_seconds`: time that the plan asks for; `work_seconds`: emulated time that the hardware needs."""

    status: str
    metrics: Mapping[str, float]
    evidence: str
    wall_seconds: float = 0.0
    work_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Server:
    """The server that is checked; `chance` makes its figures differ a little."""

    persona: Persona
    faults: ActiveFaults
    chance: random.Random
    image: str = ""
    """The digest that it has booted."""

    def about(self, value: float) -> float:
        """`value`, as measured."""
        return round(value * self.chance.uniform(1 - _SPREAD, 1 + _SPREAD), 1)


def check(server: Server, item: Item) -> Finding:
    """What this check finds. A kind that is unknown or lacks a parameter is an error, as the real agent says it."""
    measure = _KINDS.get(item.kind)
    if measure is None:
        return Finding("error", {}, f"the stand-in has no check of kind '{item.kind}'; it has {', '.join(_KINDS)}")
    try:
        finding = measure(server, item)
    except KeyError as error:
        return Finding("error", {}, f"parameter {error} is missing")
    if finding.wall_seconds > item.deadline_seconds:
        reason = f"deadline of {item.deadline_seconds:g} s overrun; the check was ended"
        return Finding("error", {}, reason, wall_seconds=item.deadline_seconds)
    return _with_fault(server, item, finding)


def _with_fault(server: Server, item: Item, finding: Finding) -> Finding:
    fault = server.faults.peek("burn-in-check-fails")
    if not fault or fault["check"] not in ("", item.id, item.kind) or not server.image.startswith(str(fault["image"])):
        return finding
    server.faults.take("burn-in-check-fails")
    metrics = {**finding.metrics, "mismatches": finding.metrics.get("mismatches", 0.0) + 1.0}
    evidence = f"{item.kind}: expected 2f1a9c0477d3e815, got 2f1a9c0477d3e915\n{finding.evidence}"
    return Finding("fail", metrics, evidence, finding.wall_seconds, finding.work_seconds)


def _cpu(server: Server, item: Item) -> Finding:
    seconds = item.parameters["seconds"]
    system = server.persona.system
    cores = system.cpu_cores * len(system.cpu_ids)
    threads = cores * system.cpu_threads_per_core
    rate = server.about(_OPERATIONS_PER_CORE * cores)
    evidence = f"cpu: {int(rate * seconds)} operations on {threads} cores in {seconds:.2f} s, 0 mismatches"
    metrics = {"operations_per_second": rate, "mismatches": 0.0, "threads": float(threads)}
    return Finding("pass", metrics, evidence, wall_seconds=seconds)


def _memory(server: Server, item: Item) -> Finding:
    mebibytes, passes = item.parameters["mebibytes"], item.parameters["passes"]
    rate = server.about(_MEMORY_MEBIBYTES_PER_SECOND)
    evidence = f"memory: {mebibytes:g} MiB, {passes:g} passes, {rate} MiB/s, 0 mismatches"
    metrics = {"mebibytes_per_second": rate, "mismatches": 0.0}
    return Finding("pass", metrics, evidence, work_seconds=8 * passes * mebibytes / rate)


def _disk(server: Server, item: Item) -> Finding:
    mebibytes = item.parameters["mebibytes"]
    write, read = server.about(_DISK_MEBIBYTES_PER_SECOND), server.about(2 * _DISK_MEBIBYTES_PER_SECOND)
    evidence = f"disk: {mebibytes:g} MiB, 0 blocks of 1 MiB differ"
    metrics = {"write_mebibytes_per_second": write, "read_mebibytes_per_second": read, "mismatches": 0.0}
    return Finding("pass", metrics, evidence, work_seconds=mebibytes / write + mebibytes / read)


def _gpu(server: Server, item: Item) -> Finding:
    """All GPUs at once; `tflops_gpu_0` and so on are BF16."""
    gpus = server.persona.gpus
    missing = _index(server.faults, "gpu-missing")
    rates = {number: _gpu_rate(server, number) for number in range(len(gpus.ids)) if number != missing}
    metrics = {
        "gpus": float(len(rates)),
        "mismatches": 0.0,
        **{f"tflops_gpu_{number}": rate for number, rate in rates.items()},
    }
    lines = [f"gpu: {len(rates)} of {len(gpus.ids)} {gpus.model}, 0 mismatches"]
    if missing is not None:
        lines.append(f"kernel: NVRM: Xid (PCI:0000:{0x1B + 8 * missing:02x}:00): 79, GPU has fallen off the bus.")
    status = "pass" if missing is None else "fail"
    return Finding(status, metrics, "\n".join(lines), wall_seconds=item.parameters["seconds"])


def _gpu_rate(server: Server, number: int) -> float:
    model = server.persona.gpus.model
    rate = next((tflops for part, tflops in _TFLOPS.items() if part in model), 500.0)
    slow = server.faults.peek("slow-gpu")
    share = float(slow["share"]) if slow and slow["index"] == number else 1.0
    return server.about(rate * share)


def _index(faults: ActiveFaults, name: str) -> int | None:
    fault: Mapping[str, Any] | None = faults.peek(name)
    return int(fault["index"]) if fault else None


_KINDS: Mapping[str, Callable[[Server, Item], Finding]] = MappingProxyType(
    {"cpu": _cpu, "memory": _memory, "disk": _disk, "gpu": _gpu}
)
