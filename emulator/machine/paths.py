"""Where the resources are that events are about."""

from emulator.machine.board import Board

_ROOT = "/redfish/v1"


def system(board: Board) -> str:
    """The host."""
    return f"{_ROOT}/Systems/{board.persona.system.id}"


def manager(board: Board) -> str:
    """The BMC."""
    return f"{_ROOT}/Managers/{board.persona.bmc.id}"


def task(task_id: str) -> str:
    """A task."""
    return f"{_ROOT}/TaskService/Tasks/{task_id}"


def account(account_id: str) -> str:
    """An account."""
    return f"{_ROOT}/AccountService/Accounts/{account_id}"


def firmware(inventory_id: str) -> str:
    """An entry of the firmware inventory."""
    return f"{_ROOT}/UpdateService/FirmwareInventory/{inventory_id}"
