"""Bios and its settings object."""

from typing import Any

from emulator.machine.machine import Machine
from emulator.persona.bios import BiosAttribute
from emulator.redfish.errors import (
    RedfishError,
    message,
    missing,
    not_found,
    not_in_list,
    not_writable,
    unknown_property,
    wrong_type,
)
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.router import Route
from emulator.redfish.systems import check_host
from emulator.tree.document import Document
from emulator.tree.systems import SYSTEMS

_TYPES: dict[str, type] = {"Enumeration": str, "String": str, "Integer": int, "Boolean": bool}


def show(machine: Machine, document: Document) -> None:
    """The attributes that the host runs with, or those that its next boot will apply."""
    settings = document.get("@Redfish.Settings")
    if settings is None:
        document["Attributes"] = machine.bios.pending
        return
    document["Attributes"] = machine.bios.current
    settings["Messages"] = [_rejection(name) for name in machine.bios.rejected]


async def change_settings(request: Request) -> Response:
    """PATCH Attributes; all of them or none."""
    _check_settings(request)
    attributes = request.json(("Attributes", "Oem")).get("Attributes")
    if attributes is None:
        raise missing("Attributes")
    if not isinstance(attributes, dict):
        raise wrong_type(attributes, "Attributes")
    for name, value in attributes.items():
        _check_value(request.machine, name, value)
    request.machine.bios.stage(attributes)
    text = "Successfully Completed Request. The settings will be applied on the next system reset."
    return Response(200, {"@Message.ExtendedInfo": [message("Success", text)]})


async def refuse_change(request: Request) -> Response:
    """PATCH of the current attributes is for the settings object."""
    check_host(request)
    raise not_writable("Attributes")


async def reset_bios(request: Request) -> Response:
    """Bios.ResetBios: factory values with the next boot."""
    check_host(request)
    request.machine.bios.stage_factory()
    return no_content()


def _check_settings(request: Request) -> None:
    check_host(request)
    if (
        not request.machine.board.persona.bios.attributes
        or request.parameters[1] != request.machine.board.persona.bios.settings
    ):
        raise not_found(request.path)


def _check_value(machine: Machine, name: str, value: Any) -> None:
    attribute = machine.board.persona.bios.attributes.get(name)
    if attribute is None:
        raise unknown_property(name)
    if attribute.read_only:
        raise not_writable(name)
    if not isinstance(value, _TYPES[attribute.type]) or (attribute.type == "Integer" and isinstance(value, bool)):
        raise wrong_type(value, name)
    if attribute.allowed and value not in attribute.allowed:
        raise not_in_list(value, name)
    if isinstance(value, int):
        _check_bounds(attribute, name, value)


def _check_bounds(attribute: BiosAttribute, name: str, value: int) -> None:
    low = attribute.lower is not None and value < attribute.lower
    high = attribute.upper is not None and value > attribute.upper
    if low or high:
        text = f"The value '{value}' for the property {name} is not in the supported range of acceptable values."
        raise RedfishError(400, "PropertyValueOutOfRange", text, str(value), name)


def _rejection(name: str) -> dict[str, Any]:
    text = f"The attribute {name} could not be applied."
    return {
        **message("PropertyValueConflict", text, name, severity="Warning"),
        "RelatedProperties": [f"#/Attributes/{name}"],
    }


ROUTES = (
    Route(f"{SYSTEMS}/{{}}/Bios", patch=refuse_change),
    Route(f"{SYSTEMS}/{{}}/Bios/{{}}", patch=change_settings),
    Route(f"{SYSTEMS}/{{}}/Bios/Actions/Bios.ResetBios", post=reset_bios),
)
