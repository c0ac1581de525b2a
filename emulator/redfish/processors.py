"""Processors: CPUs and GPUs."""

from typing import Any

from emulator.machine.board import Board
from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response, collection, ok
from emulator.redfish.router import Route
from emulator.redfish.systems import SYSTEMS, check_system

_HEALTHY = {"State": "Enabled", "Health": "OK"}


async def get_processors(request: Request) -> Response:
    """The processors of a system."""
    system = check_system(request)
    members = [*request.machine.board.persona.system.cpu_ids, *_gpus(request.machine.board, system)]
    return collection("ProcessorCollection", request.path, "Processors Collection", members)


async def get_processor(request: Request) -> Response:
    """One CPU or GPU."""
    system, processor = check_system(request), request.parameters[1]
    board = request.machine.board
    if processor in board.persona.system.cpu_ids:
        return ok("Processor.v1_10_0.Processor", request.path, _cpu(board, processor))
    gpus = _gpus(board, system)
    if processor not in gpus:
        raise not_found(request.path)
    return ok("Processor.v1_20_0.Processor", request.path, _gpu(board, processor, gpus[processor]))


def _gpus(board: Board, system: str) -> dict[str, int]:
    """The GPUs that are seen in a system, with their numbers from zero."""
    gpus = board.persona.gpus
    missing = board.faults.peek("gpu-missing")
    absent = missing["index"] if missing else None
    return {name: number for number, name in enumerate(gpus.ids) if system == gpus.system and number != absent}


def _cpu(board: Board, processor: str) -> dict[str, Any]:
    system = board.persona.system
    arm = board.persona.arch == "arm64"
    return {
        "Id": processor,
        "Name": "Processor",
        "ProcessorType": "CPU",
        "ProcessorArchitecture": "ARM" if arm else "x86",
        "InstructionSet": "ARM-A64" if arm else "x86-64",
        "Manufacturer": "NVIDIA" if arm else "Intel(R) Corporation",
        "Model": system.cpu_model,
        "TotalCores": system.cpu_cores,
        "TotalThreads": system.cpu_cores * (1 if arm else 2),
        "Socket": processor,
        "Status": _HEALTHY,
    }


def _gpu(board: Board, processor: str, number: int) -> dict[str, Any]:
    gpus = board.persona.gpus
    return {
        "Id": processor,
        "Name": "Processor",
        "ProcessorType": "GPU",
        "Manufacturer": gpus.manufacturer,
        "Model": gpus.model,
        "PartNumber": gpus.part_number,
        "SerialNumber": f"1{int(board.uuid[:8], 16):010}{number:02}",
        "MemorySummary": {"TotalMemorySizeMiB": gpus.memory_gib * 1024},
        "Location": {"PartLocation": {"LocationType": "Slot", "ServiceLabel": processor}},
        "Status": _HEALTHY,
    }


ROUTES = (
    Route(f"{SYSTEMS}/{{}}/Processors", get=get_processors),
    Route(f"{SYSTEMS}/{{}}/Processors/{{}}", get=get_processor),
)
