"""Properties that clients may write and that nothing else depends on: kept as written, shown from then on."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError, not_in_list, not_writable, unknown_property, wrong_type
from emulator.redfish.http import Request, Response, no_content
from emulator.tree.document import Document


class Each(NamedTuple):
    """The rule of an array: the JSON type of its elements."""

    element: type


# A JSON type, the allowable values, what an object may hold, or what an array may.
Rule = type | tuple[str, ...] | Mapping[str, Any] | Each

_LED: Rule = ("Lit", "Blinking", "Off")
_MARKS: Mapping[str, Rule] = {"AssetTag": str, "LocationIndicatorActive": bool, "IndicatorLED": _LED}
_ADDRESSES: Mapping[str, Rule] = {
    "HostName": str,
    "FQDN": str,
    "NameServers": Each(str),
    "StaticNameServers": Each(str),
    "IPv4Addresses": Each(dict),
    "IPv4StaticAddresses": Each(dict),
    "IPv6StaticAddresses": Each(dict),
    "DHCPv4": {"DHCPEnabled": bool, "UseDNSServers": bool, "UseGateway": bool, "UseDomainName": bool},
    "DHCPv6": {
        "OperatingMode": ("Enabled", "Disabled", "Stateful", "Stateless"),
        "UseDNSServers": bool,
        "UseDomainName": bool,
    },
    "VLAN": {"VLANEnable": bool, "VLANId": int, "VLANPriority": int},
    "MTUSize": int,
    "InterfaceEnabled": bool,
}
_PROTOCOL: Mapping[str, Rule] = {"ProtocolEnabled": bool, "Port": int}
WRITABLE: Mapping[str, Mapping[str, Rule]] = {
    "Chassis": _MARKS,
    "ComputerSystem": _MARKS,
    "Control": {"SetPoint": float, "ControlMode": ("Automatic", "Manual", "Disabled")},
    "EventService": {"ServiceEnabled": bool, "DeliveryRetryAttempts": int, "DeliveryRetryIntervalSeconds": int},
    "LogService": {"ServiceEnabled": bool},
    "Drive": {"AssetTag": str, "LocationIndicatorActive": bool},
    "EnvironmentMetrics": {"PowerLimitWatts": {"SetPoint": float}},
    "EthernetInterface": _ADDRESSES,
    "Manager": {"DateTimeLocalOffset": str, "LocationIndicatorActive": bool},
    "ManagerNetworkProtocol": {
        "HostName": str,
        "FQDN": str,
        "NTP": {"ProtocolEnabled": bool, "NTPServers": Each(str)},
        "SSDP": {
            **_PROTOCOL,
            "NotifyMulticastIntervalSeconds": int,
            "NotifyTTL": int,
            "NotifyIPv6Scope": ("Link", "Site", "Organization"),
        },
        **dict.fromkeys(("HTTP", "IPMI", "KVMIP", "SSH"), _PROTOCOL),
    },
}


def show(machine: Machine, path: str, document: Document) -> None:
    """Write over `document` what clients have written."""
    written = machine.board.state.written.get(path)
    if written:
        _merge(document, written)


async def change(request: Request, document: Document, kind: str) -> Response:
    """PATCH of a resource that has no handler: all properties or none. Raises RedfishError 400."""
    keep(request.machine, request.path, changes(document, kind, request.json()))
    return no_content()


def changes(document: Document, kind: str, body: Mapping[str, Any]) -> Document:
    """What `body` changes of the properties of a resource of that schema. Raises RedfishError 400."""
    return _changes(document, WRITABLE.get(kind, {}), body)


def keep(machine: Machine, path: str, changes: Mapping[str, Any]) -> None:
    """Remember what was written to the resource at `path`."""
    _merge(machine.board.state.written.setdefault(path, {}), changes)
    machine.board.save()


def _changes(document: Document, rules: Mapping[str, Rule], body: Mapping[str, Any]) -> Document:
    given = {name: value for name, value in body.items() if not name.startswith("@")}
    return {name: _checked(document, rules, name, value) for name, value in given.items()}


def _checked(document: Document, rules: Mapping[str, Rule], name: str, value: Any) -> Any:
    rule = rules.get(name)
    if name not in document:
        raise unknown_property(name)
    if rule is None:
        raise not_writable(name)
    if isinstance(rule, Mapping):
        if not isinstance(value, dict) or not isinstance(document[name], dict):
            raise wrong_type(value, name)
        return _changes(document[name], rule, value)
    if isinstance(rule, Each):
        return _elements(document[name], rule, name, value)
    found = checked(rule, name, value)
    if name == "SetPoint":
        _check_range(document, name, found)
    return found


def _elements(current: Any, rule: Each, name: str, value: Any) -> list[Any]:
    """An array after a PATCH (DSP0266, 7.6.4): null removes an element, {} leaves it, what is not given is cut off."""
    if not isinstance(value, list):
        raise wrong_type(value, name)
    known = [element for element in current or [] if element is not None]
    found = []
    for number, element in enumerate(value):
        if element is not None and element != {} and not isinstance(element, rule.element):
            raise wrong_type(element, name)
        old = known[number] if number < len(known) else None
        if element == {}:
            found.append(old)
        elif isinstance(element, dict) and isinstance(old, dict):
            found.append(old | element)
        else:
            found.append(element)
    return [element for element in found if element is not None]


def _check_range(document: Document, name: str, value: float) -> None:
    low, high = document.get("AllowableMin"), document.get("AllowableMax")
    if (low is not None and value < low) or (high is not None and value > high):
        text = f"The value '{value}' for the property {name} is not in the supported range of {low} to {high}."
        raise RedfishError(400, "PropertyValueOutOfRange", text, str(value), name)


def _merge(document: Document, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(document.get(name), dict):
            _merge(document[name], value)
        else:
            document[name] = value


def checked(rule: Rule, name: str, value: Any) -> Any:
    """`value` when `rule` allows it for the property `name`; raises RedfishError 400."""
    if isinstance(rule, tuple) and not isinstance(rule, Each):
        if not isinstance(value, str):
            raise wrong_type(value, name)
        if value not in rule:
            raise not_in_list(value, name)
    elif isinstance(rule, type):
        allowed = (int, float) if rule is float else (rule,)
        if not isinstance(value, allowed) or (rule is not bool and isinstance(value, bool)):
            raise wrong_type(value, name)
    return value
