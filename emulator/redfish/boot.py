"""Boot of a ComputerSystem: the override and what may be written to it."""

from typing import Any

from emulator.machine.board import Board
from emulator.redfish.errors import not_in_list, not_writable, unknown_property, wrong_type

_ENABLED = ("Once", "Continuous", "Disabled")
_FIELDS = {
    "BootSourceOverrideTarget": "boot_target",
    "BootSourceOverrideEnabled": "boot_enabled",
    "BootSourceOverrideMode": "boot_mode",
    "HttpBootUri": "http_boot_uri",
}


def show_boot(board: Board, document: dict[str, Any]) -> None:
    """Write the override over the Boot property."""
    document.update({name: getattr(board.state, field) for name, field in _FIELDS.items() if name in document})
    if "HttpBootUri" in document:
        document["HttpBootUri"] = board.state.http_boot_uri or None


def change_boot(board: Board, wanted: object) -> None:
    """Write to the override; all or nothing. Raises RedfishError 400."""
    if not isinstance(wanted, dict):
        raise wrong_type(wanted, "Boot")
    changes = {_FIELDS[name]: _value(board, name, value) for name, value in wanted.items() if _known(board, name)}
    if changes.get("boot_target") == "None" and "boot_enabled" not in changes:
        changes["boot_enabled"] = "Disabled"
    for name, value in changes.items():
        setattr(board.state, name, value)
    board.save()


def _known(board: Board, name: str) -> bool:
    if name not in _FIELDS or (name == "HttpBootUri" and not board.persona.boot.http_boot_uri):
        if name in ("BootOrder", "BootNext", "UefiTargetBootSourceOverride"):
            raise not_writable(name)
        raise unknown_property(name)
    return True


def _value(board: Board, name: str, value: object) -> str:
    if name == "HttpBootUri":
        if value is not None and not isinstance(value, str):
            raise wrong_type(value, name)
        return value or ""
    boot = board.persona.boot
    allowed = {"BootSourceOverrideTarget": boot.targets, "BootSourceOverrideMode": boot.modes}.get(name, _ENABLED)
    if not isinstance(value, str):
        raise wrong_type(value, name)
    if value not in allowed:
        raise not_in_list(value, name)
    return value
