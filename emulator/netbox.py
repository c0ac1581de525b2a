"""The rack plan as NetBox 4 has it: what its REST API would list, and CSV files for its own import forms.

A slot of the rack is one unit high there. Credentials are no business of NetBox.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from emulator.config import BmcEntry
from emulator.persona.load import load_persona
from emulator.persona.persona import Persona

SITE = "Emulated"
_BASE = "http://netbox.invalid"
_BMC_PORT = "bmc"
_STATUS = {"value": "planned", "label": "Planned"}
_ACTIVE = {"value": "active", "label": "Active"}
_COPPER = {"value": "1000base-t", "label": "1000BASE-T (1GE)"}
_OTHER = {"value": "other", "label": "Other"}

Object = dict[str, Any]


def write_netbox(entries: Sequence[BmcEntry], port: int, directory: Path) -> None:
    """Write expected.netbox.json, and netbox/1-sites.csv and so on in the order in which NetBox takes them."""
    (directory / "expected.netbox.json").write_bytes(orjson.dumps(listings(entries, port)))
    folder = directory / "netbox"
    folder.mkdir(exist_ok=True)
    for number, (name, rows) in enumerate(_tables(entries).items(), 1):
        with (folder / f"{number}-{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def listings(entries: Sequence[BmcEntry], port: int) -> dict[str, Object]:
    """By the path of NetBox's API, the page that it would answer; every result is on it."""
    racks = {name: number for number, name in enumerate(dict.fromkeys(entry.rack for entry in entries), 1)}
    kinds = {name: number for number, name in enumerate(dict.fromkeys(entry.persona for entry in entries), 1)}
    devices: list[Object] = []
    interfaces: list[Object] = []
    addresses: list[Object] = []
    for number, entry in enumerate(entries, 1):
        device = _nested("dcim/devices", number, entry.name)
        ports = [
            _interface(len(interfaces) + index, name, mac, device)
            for index, (name, mac) in enumerate(_ports(entry, load_persona(entry.persona)), 1)
        ]
        interfaces += ports
        addresses.append(_address(number, entry, ports[0]))
        devices.append(
            {
                **device,
                **_kind(kinds[entry.persona], load_persona(entry.persona)),
                **_place(racks[entry.rack], entry),
                "serial": entry.serial,
                "oob_ip": {key: addresses[-1][key] for key in _BRIEF},
                "custom_fields": {
                    "bmc_port": port,
                    "power_domain": entry.power_domain,
                    "nvlink_domain": entry.nvlink_domain,
                },
                "interface_count": len(ports),
            }
        )
    return {
        "/api/dcim/devices/": _page(devices),
        "/api/dcim/interfaces/": _page(interfaces),
        "/api/ipam/ip-addresses/": _page(addresses),
    }


_BRIEF = ("id", "url", "display", "family", "address", "description")


def _kind(number: int, persona: Persona) -> Object:
    return {
        "device_type": _device_type(number, persona),
        "role": _named("dcim/device-roles", 1 + _ROLES.index(_role(persona)), _role(persona)),
        "asset_tag": None,
        "status": _STATUS,
        "primary_ip": None,
        "primary_ip4": None,
        "primary_ip6": None,
        "comments": "",
        "tags": [],
    }


def _place(rack: int, entry: BmcEntry) -> Object:
    return {
        "site": _named("dcim/sites", 1, SITE),
        "rack": _nested("dcim/racks", rack, entry.rack),
        "position": float(entry.position),
        "face": {"value": "front", "label": "Front"},
    }


_ROLES = ("GPU server", "NVLink switch", "Controller")


def _role(persona: Persona) -> str:
    if persona.gpus.ids:
        return _ROLES[0]
    return _ROLES[1] if persona.nvswitches.count else _ROLES[2]


def _ports(entry: BmcEntry, persona: Persona) -> Iterator[tuple[str, str]]:
    """Name and MAC address of each port, the BMC's first."""
    yield _BMC_PORT, entry.mac(persona, -1)
    for number, name in enumerate(persona.system.nics):
        yield name, entry.mac(persona, number)


def _interface(number: int, name: str, mac: str, device: Object) -> Object:
    address = {**_link("dcim/mac-addresses", number, mac), "mac_address": mac, "description": ""}
    return {
        **_nested("dcim/interfaces", number, name),
        "device": device,
        "type": _COPPER if name == _BMC_PORT else _OTHER,
        "enabled": True,
        "mgmt_only": name == _BMC_PORT,
        "mac_address": mac,
        "primary_mac_address": address,
        "mac_addresses": [address],
        "count_ipaddresses": int(name == _BMC_PORT),
    }


def _address(number: int, entry: BmcEntry, interface: Object) -> Object:
    address = f"{entry.address}/8"
    shown = {key: interface[key] for key in ("id", "url", "display_url", "display", "device", "name", "description")}
    return {
        **_link("ipam/ip-addresses", number, address),
        "family": {"value": 4, "label": "IPv4"},
        "address": address,
        "vrf": None,
        "tenant": None,
        "status": _ACTIVE,
        "role": None,
        "assigned_object_type": "dcim.interface",
        "assigned_object_id": interface["id"],
        "assigned_object": shown,
        "dns_name": "",
        "description": "",
        "comments": "",
        "tags": [],
        "custom_fields": {},
    }


def _device_type(number: int, persona: Persona) -> Object:
    model = persona.system.model
    maker = persona.system.manufacturer
    return {
        **_link("dcim/device-types", number, model),
        "manufacturer": _named("dcim/manufacturers", number, maker),
        "model": model,
        "slug": _slug(model),
        "description": "",
    }


def _named(path: str, number: int, name: str) -> Object:
    return {**_nested(path, number, name), "slug": _slug(name)}


def _nested(path: str, number: int, name: str) -> Object:
    return {**_link(path, number, name), "name": name, "description": ""}


def _link(path: str, number: int, display: str) -> Object:
    return {
        "id": number,
        "url": f"{_BASE}/api/{path}/{number}/",
        "display_url": f"{_BASE}/{path}/{number}/",
        "display": display,
    }


def _page(results: list[Object]) -> Object:
    return {"count": len(results), "next": None, "previous": None, "results": results}


def _slug(name: str) -> str:
    return "-".join("".join(mark if mark.isalnum() else " " for mark in name.lower()).split())


def _tables(entries: Sequence[BmcEntry]) -> dict[str, Iterable[Sequence[object]]]:
    """By object, the rows of its import form; the first one holds the names of the fields."""
    personas = [load_persona(name) for name in dict.fromkeys(entry.persona for entry in entries)]
    makers = dict.fromkeys(persona.system.manufacturer for persona in personas)
    models = dict.fromkeys((persona.system.manufacturer, persona.system.model) for persona in personas)
    roles = dict.fromkeys(_role(persona) for persona in personas)
    racks = dict.fromkeys(entry.rack for entry in entries)
    height = max(42, *(entry.position for entry in entries))
    return {
        "sites": [("name", "slug", "status"), (SITE, _slug(SITE), "active")],
        "manufacturers": [("name", "slug"), *((maker, _slug(maker)) for maker in makers)],
        "device-types": [
            ("manufacturer", "model", "slug", "u_height"),
            *((maker, model, _slug(model), 1) for maker, model in models),
        ],
        "device-roles": [("name", "slug", "color"), *((role, _slug(role), "2196f3") for role in roles)],
        "racks": [
            ("site", "name", "status", "width", "u_height"),
            *((SITE, rack, "active", 19, height) for rack in racks),
        ],
        "devices": [_DEVICE, *(_device_row(entry) for entry in entries)],
        "interfaces": [("device", "name", "type", "mgmt_only"), *_interface_rows(entries)],
        "mac-addresses": [("mac_address", "device", "interface", "is_primary"), *_mac_rows(entries)],
        "ip-addresses": [
            ("address", "status", "device", "interface", "is_oob"),
            *((f"{entry.address}/8", "active", entry.name, _BMC_PORT, "true") for entry in entries),
        ],
    }


_DEVICE = ("name", "role", "manufacturer", "device_type", "serial", "status", "site", "rack", "position", "face")


def _device_row(entry: BmcEntry) -> Sequence[object]:
    persona = load_persona(entry.persona)
    kind = (_role(persona), persona.system.manufacturer, persona.system.model)
    return (entry.name, *kind, entry.serial, "planned", SITE, entry.rack, entry.position, "front")


def _interface_rows(entries: Iterable[BmcEntry]) -> Iterator[Sequence[object]]:
    for entry in entries:
        for name, _mac in _ports(entry, load_persona(entry.persona)):
            kind = _COPPER if name == _BMC_PORT else _OTHER
            yield entry.name, name, kind["value"], "true" if name == _BMC_PORT else "false"


def _mac_rows(entries: Iterable[BmcEntry]) -> Iterator[Sequence[object]]:
    for entry in entries:
        for name, mac in _ports(entry, load_persona(entry.persona)):
            yield mac, entry.name, name, "true"
