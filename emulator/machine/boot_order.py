"""What a host tries to boot, in order: BootOrder, BootNext and the override. UEFI 2.10, 3.1; DSP0268, Boot."""

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.machine.board import Board

NETWORK = ("Pxe", "UefiHttp")
MEDIA = ("Cd", "UsbCd", "Usb", "Floppy")
_BOOTS = ("Hdd", *NETWORK, *MEDIA)
_NAMES = {"Hdd": "Hard Drive", "Pxe": "UEFI PXE IPv4", "UefiHttp": "UEFI HTTP IPv4", "Cd": "Virtual CD", "Usb": "USB"}


@dataclass(frozen=True, slots=True)
class BootOption:
    """One UEFI boot option; `target` is its alias in Redfish, `mac` the port it boots from."""

    reference: str
    name: str
    target: str
    mac: str | None


def boot_options(board: Board) -> tuple[BootOption, ...]:
    """All options of a host, numbered as the factory orders them."""
    boot = board.persona.boot
    targets = dict.fromkeys((*boot.order, *(target for target in boot.targets if target in _BOOTS)))
    return tuple(_options(board, tuple(targets)))


def boot_order(board: Board) -> tuple[str, ...]:
    """References in the order in which they are tried."""
    known = {option.reference: option for option in boot_options(board)}
    if board.state.boot_order:
        return tuple(reference for reference in board.state.boot_order if reference in known)
    return tuple(option.reference for option in known.values() if option.target in board.persona.boot.order)


def take_targets(board: Board) -> tuple[str, ...]:
    """The targets of this boot. Uses up what holds for one boot only: call it once, at the end of POST."""
    state = board.state
    targets = {option.reference: option.target for option in boot_options(board)}
    target = state.boot_target if state.boot_enabled != "Disabled" else "None"
    if state.boot_enabled == "Once":
        state.boot_enabled = "Disabled"
        state.boot_target = "None"
    following = ""
    if target in ("None", "UefiBootNext"):
        following, state.boot_next = state.boot_next, ""
    board.save()
    if target not in ("None", "UefiBootNext"):
        return (target,)
    ordered = tuple(targets[reference] for reference in boot_order(board))
    return (targets[following], *ordered) if following in targets else ordered


def _options(board: Board, targets: tuple[str, ...]) -> Iterator[BootOption]:
    for number, target in enumerate(targets, 1):
        name = _NAMES.get(target, target)
        mac = board.mac(0) if target in NETWORK else None
        yield BootOption(f"Boot{number:04X}", f"{name} ({mac})" if mac else name, target, mac)
