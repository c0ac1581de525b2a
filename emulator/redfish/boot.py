"""Boot of a ComputerSystem: overrides, the boot order, and the future state that holds them on some servers."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from emulator.machine.board import Board
from emulator.machine.boot_order import has_quirk
from emulator.redfish.errors import RedfishError, missing, not_in_list, not_writable, unknown_property, wrong_type
from emulator.tree import places
from emulator.tree.document import Document

_ENABLED = ("Once", "Continuous", "Disabled")
_FIELDS = {
    "BootSourceOverrideTarget": "boot_target",
    "BootSourceOverrideEnabled": "boot_enabled",
    "BootSourceOverrideMode": "boot_mode",
    "HttpBootUri": "http_boot_uri",
    "UefiTargetBootSourceOverride": "uefi_target",
    "BootNext": "boot_next",
    "BootOrder": "boot_order",
}
_OVERRIDE = ("BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideMode")
_OVERRIDE_OF_ONE_BOOT = {"BootSourceOverrideTarget", "BootSourceOverrideEnabled"}
_FUTURE = "SD"
_URI = re.compile(r"https?://[^\s/?#]+", re.IGNORECASE)


def show_boot(board: Board, boot: Document) -> None:
    """Write what was set over the Boot property."""
    state = board.state
    shown: dict[str, Any] = {name: getattr(state, field) or None for name, field in _FIELDS.items()}
    if not state.boot_order:
        del shown["BootOrder"]
    boot.update({name: value for name, value in shown.items() if name in boot})
    fault = board.faults.peek("boot-mode-misspelt")
    if fault and "BootSourceOverrideMode" in boot:
        boot["BootSourceOverrideMode"] = fault["shown"]
    if "BootSourceOverrideEnabled" in boot and board.faults.peek("boot-always-continuous"):
        boot["BootSourceOverrideEnabled"] = "Continuous"
    if "HttpBootUri" in boot and not state.http_boot_uri and board.faults.peek("http-boot-uri-reads-none"):
        boot["HttpBootUri"] = "None"
    if board.faults.peek("boot-cd-is-usbcd"):
        _replace_cd(boot)
    if has_quirk(board, "boot-override-absent"):
        for name in [name for name in boot if name.partition("@")[0] in (*_OVERRIDE, *_ABSENT)]:
            del boot[name]


def future_path(board: Board) -> str | None:
    """Where the future state of the host is; None: it has none."""
    name = board.persona.boot.settings or (_FUTURE if board.faults.peek("boot-at-settings") else None)
    return f"{places.host(board.persona)}/{name}" if name else None


def show_future(board: Board, document: Document) -> None:
    """Let the document of the host say where its future state is."""
    path = future_path(board)
    if path and "@Redfish.Settings" not in document:
        reference = {"@odata.id": path}
        document["@Redfish.Settings"] = {"@odata.type": "#Settings.v1_3_5.Settings", "SettingsObject": reference}


def refuse_direct(board: Board) -> None:
    """Raise RedfishError 400 where only the future state takes overrides."""
    path = future_path(board)
    if path and (not board.persona.boot.direct or board.faults.peek("boot-at-settings")):
        text = f"The property Boot is read only here; write it to the future state resource {path}."
        raise RedfishError(400, "PropertyNotWritable", text, "Boot")


def change_boot(board: Board, boot: Document, wanted: object) -> None:
    """Write to Boot, which is now `boot`; all or nothing. Raises RedfishError 400."""
    if not isinstance(wanted, dict):
        raise wrong_type(wanted, "Boot")
    for name in wanted:
        _check_known(board, boot, name)
    values = {name: _RULES.get(name, _listed)(board, boot, name, value) for name, value in wanted.items()}
    _check_combination(board, boot, values)
    if values.get("BootSourceOverrideTarget") == "None" and "BootSourceOverrideEnabled" not in values:
        values["BootSourceOverrideEnabled"] = "Disabled"
    if _reverts(board, values):
        values["BootSourceOverrideMode"] = board.persona.boot.modes[0]
    if _OVERRIDE_OF_ONE_BOOT & values.keys() and board.faults.take("boot-always-continuous"):
        values["BootSourceOverrideEnabled"] = "Continuous"
    for name, value in values.items():
        setattr(board.state, _FIELDS[name], value)
    board.save()


_ABSENT = ("HttpBootUri", "UefiTargetBootSourceOverride", "BootNext")


def _replace_cd(boot: Document) -> None:
    allowable = "BootSourceOverrideTarget@Redfish.AllowableValues"
    if allowable in boot:
        targets = [target for target in boot[allowable] if target not in ("Cd", "UsbCd")]
        boot[allowable] = [*targets, "UsbCd"]


def _check_known(board: Board, boot: Document, name: str) -> None:
    if name not in boot:
        raise unknown_property(name)
    if name not in _FIELDS:
        raise not_writable(name)
    if name == "BootSourceOverrideMode" and has_quirk(board, "boot-mode-refused"):
        raise not_writable(name)


def _check_combination(board: Board, boot: Document, values: Mapping[str, Any]) -> None:
    after = {**boot, **values}
    if after.get("BootSourceOverrideEnabled") == "Continuous" and after.get("BootSourceOverrideTarget") == "UefiTarget":
        text = "A boot from a UEFI target is for one boot only."  # UEFI 2.10, 3.1.2: BootNext is used up
        raise RedfishError(400, "PropertyValueConflict", text, "BootSourceOverrideEnabled", "BootSourceOverrideTarget")
    if values.get("BootSourceOverrideEnabled") == "Disabled" and has_quirk(board, "boot-disable-needs-mode"):
        _need("BootSourceOverrideMode", values)
    if "BootSourceOverrideEnabled" in values and has_quirk(board, "boot-disable-needs-target"):
        target = after.get("BootSourceOverrideTarget")
        if target == "None":
            raise not_in_list(target, "BootSourceOverrideTarget")
    if has_quirk(board, "boot-refuses-unchanged"):
        same = [name for name, value in values.items() if (boot.get(name) or "") == value]
        if same:
            raise not_writable(same[0])


def _need(name: str, values: Mapping[str, Any]) -> None:
    if name not in values:
        raise missing(name)


def _reverts(board: Board, values: Mapping[str, Any]) -> bool:
    """Whether an override without a mode sets the mode back."""
    written = "BootSourceOverrideTarget" in values or "BootSourceOverrideEnabled" in values
    return written and "BootSourceOverrideMode" not in values and has_quirk(board, "boot-mode-reverts")


def _listed(board: Board, boot: Document, name: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(value, name)
    allowed = boot.get(f"{name}@Redfish.AllowableValues") or _allowed(board, name)
    if value not in allowed:
        raise not_in_list(value, name)
    return value


def _allowed(board: Board, name: str) -> tuple[str, ...]:
    boot = board.persona.boot
    return {"BootSourceOverrideTarget": boot.targets, "BootSourceOverrideMode": boot.modes}.get(name, _ENABLED)


def _text(_board: Board, _boot: Document, name: str, value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise wrong_type(value, name)
    return value or ""


def _uri(board: Board, boot: Document, name: str, value: object) -> str:
    uri = _text(board, boot, name, value)
    if uri and not _URI.match(uri):
        text = f"The value '{uri}' for the property {name} is of a different format than the property can accept."
        raise RedfishError(400, "PropertyValueFormatError", text, uri, name)
    fault = board.faults.peek("http-boot-uri-refused")
    if fault and uri and uri.partition("?")[0].endswith(str(fault["ending"])):
        board.faults.take("http-boot-uri-refused")
        raise RedfishError(int(fault["status"]), "InternalError", "Failed to download and attach HttpBootUri.")
    return uri


def _next(board: Board, boot: Document, name: str, value: object) -> str:
    reference = _text(board, boot, name, value)
    if reference and reference not in _references(board, boot):
        raise not_in_list(reference, name)
    return reference


def _order(board: Board, boot: Document, name: str, value: object) -> list[str]:
    """All references of the order, once each, and perhaps more that there are."""
    if not isinstance(value, list):
        raise wrong_type(value, name)
    known = _references(board, boot)
    for reference in value:
        if reference not in known:
            raise not_in_list(reference, name)
    if len(set(value)) != len(value) or not set(boot[name]) <= set(value):
        text = f"The property {name} was not written: the list must hold every boot option, once."
        raise RedfishError(400, "PropertyValueIncorrect", text, name, str(value))
    return value


def _references(board: Board, boot: Document) -> set[str]:
    return {*boot.get("BootOrder", ()), *board.persona.boot.options}


_RULES: Mapping[str, Callable[[Board, Document, str, object], Any]] = {
    "HttpBootUri": _uri,
    "UefiTargetBootSourceOverride": _text,
    "BootNext": _next,
    "BootOrder": _order,
}
