"""BootSettings of Lenovo: the boot order by kind of device, and within each kind.

Lenovo's schemas are not among DMTF's, so nothing links here; clients know the path, as Lenovo's own scripts do.
What is written holds from the next POST on.
"""

from collections.abc import Iterator, Mapping, Sequence

from emulator.machine.board import Board
from emulator.machine.boot_order import boot_order
from emulator.persona.boot import NETWORK, option_name
from emulator.redfish.errors import RedfishError, missing, not_found, not_in_list, wrong_type
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.router import Route, refuse_method
from emulator.redfish.systems import check_host
from emulator.tree.document import Document, collection, resource
from emulator.tree.places import SYSTEMS

_KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "Network": ("BootOrder.NetworkBootOrder", NETWORK),
    "Hard Disk": ("BootOrder.HardDiskBootOrder", ("Hdd",)),
    "CD/DVD Rom": ("BootOrder.CDDVDROMBootOrder", ("Cd", "UsbCd")),
    "USB Storage": ("BootOrder.USBBootOrder", ("Usb", "Floppy")),
}
"""By what Lenovo calls a kind of device: the resource of its order, and the targets that are of this kind."""

_WHOLE = "BootOrder.BootOrder"
_NEXT = "BootOrderNext"


async def get_settings(request: Request) -> Response:
    """The orders that there are."""
    _board(request)
    members = sorted((_WHOLE, *(identity for identity, _ in _KINDS.values())))
    return Response(200, collection(request.path, "LenovoBootManagerCollection", "BootSettings", members)[1])


async def get_order(request: Request) -> Response:
    """One order: what may be in it, what is."""
    board, identity = _board(request), request.parameters[1]
    now = _order(board, identity)
    properties: Document = {"BootOrderSupported": _supported(board, identity), "BootOrderCurrent": now, _NEXT: now}
    kind = "LenovoBootManager.v1_0_0.LenovoBootManager"
    return Response(200, resource(request.path, kind, identity, properties)[1])


async def change_order(request: Request) -> Response:
    """PATCH of BootOrderNext: what is not in the list is not tried any more. Raises RedfishError 400."""
    board, identity = _board(request), request.parameters[1]
    wanted = request.json((_NEXT,)).get(_NEXT)
    if wanted is None:
        raise missing(_NEXT)
    if not isinstance(wanted, list):
        raise wrong_type(wanted, _NEXT)
    supported = _supported(board, identity)
    for name in wanted:
        if name not in supported:
            raise not_in_list(name, _NEXT)
    if len(set(wanted)) != len(wanted):
        raise RedfishError(400, "PropertyValueConflict", "The list holds a device twice.", _NEXT, _NEXT)
    board.state.boot_order = list(_references(board, identity, wanted))
    board.save()
    return no_content()


def _board(request: Request) -> Board:
    """The board of a server that has these settings. Raises RedfishError 404, or 405 where they only are shown."""
    check_host(request)
    board = request.machine.board
    if board.faults.take("boot-settings-absent"):
        raise not_found(request.path)
    if not board.persona.boot.lenovo_settings:
        shown = request.method not in ("GET", "HEAD") and board.document(request.path)
        raise refuse_method(request, ("GET", "HEAD")) if shown else not_found(request.path)
    known = (_WHOLE, *(identity for identity, _ in _KINDS.values()))
    if len(request.parameters) > 1 and request.parameters[1] not in known:
        raise not_found(request.path)
    return board


def _kind(board: Board, reference: str) -> str:
    target = board.persona.boot.options[reference]
    return next(name for name, (_, targets) in _KINDS.items() if target in targets)


def _name(board: Board, reference: str) -> str:
    return option_name(board.persona.boot.options[reference], board.mac(0))


def _of(board: Board, identity: str, references: Sequence[str]) -> list[str]:
    """Those of a kind of device."""
    return [reference for reference in references if _KINDS[_kind(board, reference)][0] == identity]


def _supported(board: Board, identity: str) -> list[str]:
    return _names(board, identity, tuple(board.persona.boot.options))


def _order(board: Board, identity: str) -> list[str]:
    return _names(board, identity, boot_order(board))


def _names(board: Board, identity: str, references: Sequence[str]) -> list[str]:
    if identity == _WHOLE:
        return list(dict.fromkeys(_kind(board, reference) for reference in references))
    return [_name(board, reference) for reference in _of(board, identity, references)]


def _references(board: Board, identity: str, wanted: Sequence[str]) -> Iterator[str]:
    """The boot order that a list of names asks for."""
    now = boot_order(board)
    if identity == _WHOLE:
        every = dict.fromkeys((*now, *board.persona.boot.options))
        yield from (reference for kind in wanted for reference in every if _kind(board, reference) == kind)
        return
    own = {_name(board, reference): reference for reference in _of(board, identity, tuple(board.persona.boot.options))}
    before = [reference for reference in now if reference in own.values()]
    place = now.index(before[0]) if before else len(now)
    others = [reference for reference in now if reference not in own.values()]
    yield from (*others[:place], *(own[name] for name in wanted), *others[place:])


ROUTES = (
    Route(f"{SYSTEMS}/{{}}/Oem/Lenovo/BootSettings", get=get_settings),
    Route(f"{SYSTEMS}/{{}}/Oem/Lenovo/BootSettings/{{}}", get=get_order, patch=change_order),
)
