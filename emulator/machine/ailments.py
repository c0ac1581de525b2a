"""Which part a fault makes ill, and how ill: what a BMC tells as an event when it happens and when it is healed."""

from collections.abc import Callable, Mapping

from emulator.faults.fault import Arguments
from emulator.machine.board import Board
from emulator.machine.events import Topic
from emulator.persona.persona import Persona
from emulator.tree import places

_LINK = "nvlink-down"
# By fault: the health of the part, empty where the fault says it, and the parts that it may hit.
_PARTS: Mapping[str, tuple[str, Callable[[Persona], tuple[str, ...]]]] = {
    "gpu-degraded": ("", places.gpus),
    "gpu-overheats": ("Critical", places.gpus),
    "gpu-throttled": ("Warning", places.gpus),
    _LINK: ("Critical", places.gpus),
    "pcie-degraded": ("Warning", places.gpu_devices),
    "drive-failed": ("Critical", places.drives),
    "fan-failed": ("Critical", places.fans),
    "supply-failed": ("Critical", places.supplies),
    "leak-detected": ("Critical", places.leak_detectors),
}


def tell_ill(board: Board, fault: str) -> None:
    """Publish that a part has become ill, when `fault` is one that makes a part ill."""
    arguments = board.faults.peek(fault)
    path = _part(board, fault, arguments)
    if path and arguments is not None:
        _tell(board, path, str(_PARTS[fault][0] or arguments["health"]))


def tell_well(board: Board, fault: str) -> None:
    """Publish that the part is well again; call it before the fault is forgotten."""
    path = _part(board, fault, board.faults.peek(fault))
    if path:
        _tell(board, path, "OK")


def _part(board: Board, fault: str, arguments: Arguments | None) -> str:
    """The path of the part that the fault hits; empty when there is none."""
    if fault not in _PARTS or arguments is None:
        return ""
    number = int(arguments["gpu" if fault == _LINK else "index"])
    paths = _PARTS[fault][1](board.persona)
    if not 0 <= number < len(paths):
        return ""
    return f"{paths[number]}/Ports/NVLink_{arguments['link']}" if fault == _LINK else paths[number]


def _tell(board: Board, path: str, health: str) -> None:
    if health not in ("OK", "Warning", "Critical"):
        return
    topic: Topic = "gpu" if "GPU" in path else "host"
    board.events.publish(f"ResourceEvent.ResourceStatusChanged{health}", path, health, origin=path, topic=topic)
