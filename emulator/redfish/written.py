"""Properties that clients may write and that nothing else depends on: kept as written, shown from then on."""

from collections.abc import Mapping
from typing import Any

from emulator.machine.machine import Machine
from emulator.redfish.errors import not_in_list, not_writable, unknown_property, wrong_type
from emulator.redfish.http import Request, Response, no_content
from emulator.tree.document import Document

Rule = type | tuple[str, ...]  # a JSON type, or the allowable values

_LED: Rule = ("Lit", "Blinking", "Off")
_MARKS: Mapping[str, Rule] = {"AssetTag": str, "LocationIndicatorActive": bool, "IndicatorLED": _LED}
WRITABLE: Mapping[str, Mapping[str, Rule]] = {
    "Chassis": _MARKS,
    "ComputerSystem": _MARKS,
    "Drive": {"AssetTag": str, "LocationIndicatorActive": bool},
    "Manager": {"DateTimeLocalOffset": str, "LocationIndicatorActive": bool},
}


def show(machine: Machine, path: str, document: Document) -> None:
    """Write over `document` what clients have written."""
    document.update(machine.board.state.written.get(path, {}))


async def change(request: Request, document: Document, kind: str) -> Response:
    """PATCH of a resource that has no handler: all properties or none. Raises RedfishError 400."""
    body = request.json()
    changes = {name: _checked(document, kind, name, value) for name, value in body.items() if not name.startswith("@")}
    keep(request.machine, request.path, changes)
    return no_content()


def keep(machine: Machine, path: str, changes: Mapping[str, Any]) -> None:
    """Remember what was written to the resource at `path`."""
    machine.board.state.written.setdefault(path, {}).update(changes)
    machine.board.save()


def _checked(document: Document, kind: str, name: str, value: Any) -> Any:
    rule = WRITABLE.get(kind, {}).get(name)
    if name not in document:
        raise unknown_property(name)
    if rule is None:
        raise not_writable(name)
    return checked(rule, name, value)


def checked(rule: Rule, name: str, value: Any) -> Any:
    """`value` when `rule` allows it for the property `name`; raises RedfishError 400."""
    if isinstance(rule, tuple):
        if not isinstance(value, str):
            raise wrong_type(value, name)
        if value not in rule:
            raise not_in_list(value, name)
    elif not isinstance(value, rule) or (rule is not bool and isinstance(value, bool)):
        raise wrong_type(value, name)
    return value
