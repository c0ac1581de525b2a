"""What a host tries to boot, in order: BootOrder, BootNext and the override. UEFI 2.10, 3.1; DSP0268, Boot."""

from emulator.machine.board import Board
from emulator.persona.boot import device_path


def boot_order(board: Board) -> tuple[str, ...]:
    """References in the order in which they are tried."""
    boot = board.persona.boot
    if board.state.boot_order:
        return tuple(reference for reference in board.state.boot_order if reference in boot.options)
    return boot.factory_order


def has_quirk(board: Board, name: str) -> bool:
    """Whether this kind of server has the quirk, or this server has it as a fault now."""
    return name in board.persona.boot.quirks or board.faults.peek(name) is not None


def take_targets(board: Board) -> tuple[str, ...]:
    """The targets of this boot. Uses up what holds for one boot only: call it once, at the end of POST."""
    state, options = board.state, board.persona.boot.options
    target = state.boot_target if state.boot_enabled != "Disabled" else "None"
    target = _use_override(board, target)
    following = ""
    if target in ("None", "UefiBootNext"):
        following, state.boot_next = state.boot_next, ""
    board.save()
    if target == "UefiTarget":
        mac = board.mac(0)
        return tuple(one for one in options.values() if device_path(one, mac) == state.uefi_target)
    if target not in ("None", "UefiBootNext"):
        return (target,)
    ordered = tuple(options[reference] for reference in boot_order(board))
    return (options[following], *ordered) if following in options else ordered


def _use_override(board: Board, target: str) -> str:
    """The target of this boot; what is for one boot, or forgotten by a fault, is not there any more."""
    state = board.state
    if state.boot_enabled == "Once" and board.faults.take("boot-once-lost"):
        target = "None"
    kept = state.boot_enabled == "Once" and board.faults.take("boot-once-kept")
    forgotten = state.boot_enabled == "Continuous" and has_quirk(board, "boot-continuous-forgotten")
    if (state.boot_enabled == "Once" and not kept) or forgotten:
        state.boot_enabled = "Disabled"
        state.boot_target = "None"
    return target
