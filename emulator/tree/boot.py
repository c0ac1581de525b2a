"""Boot of the host: its options and overrides, and which resets there are."""

from collections.abc import Iterator

from emulator.persona.boot import device_path, option_name
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import Document, Entry, action, collection, link, resource

_ALLOWABLE = "@Redfish.AllowableValues"
_MAC = "${mac:0}"
_ALIASES = {"UsbCd": "Cd"}  # BootSource has no UsbCd for an option


def build(persona: Persona) -> Iterator[Entry]:
    """The boot options, and ResetActionInfo where there is one."""
    path = places.host(persona)
    options = persona.boot.options
    yield collection(f"{path}/BootOptions", "BootOptionCollection", "Boot Option Collection", options)
    for reference, target in options.items():
        properties = {
            "BootOptionReference": reference,
            "BootOptionEnabled": True,
            "DisplayName": option_name(target, _MAC),
            "Alias": _ALIASES.get(target, target),
            "UefiDevicePath": device_path(target, _MAC),
        }
        yield resource(f"{path}/BootOptions/{reference}", "BootOption.v1_0_4.BootOption", reference, properties)
    if persona.system.reset_info != "none":
        yield _reset_info(persona, path)


def boot_properties(persona: Persona) -> Document:
    """Boot of the host as the factory leaves it; redfish/boot.py shows what was set."""
    boot = persona.boot
    document: Document = {
        "BootSourceOverrideTarget": "None",
        f"BootSourceOverrideTarget{_ALLOWABLE}": list(boot.targets),
        "BootSourceOverrideEnabled": "Disabled",
        f"BootSourceOverrideEnabled{_ALLOWABLE}": ["Once", "Continuous", "Disabled"],
        "BootSourceOverrideMode": boot.modes[-1],
        f"BootSourceOverrideMode{_ALLOWABLE}": list(boot.modes),
        "UefiTargetBootSourceOverride": None,
        "BootOptions": link(f"{places.host(persona)}/BootOptions"),
        "BootOrder": list(boot.factory_order),
        "BootNext": None,
        "BootOrderPropertySelection": "BootOrder",
    }
    return document | ({"HttpBootUri": None} if boot.http_boot_uri else {})


def reset_action(persona: Persona) -> Document:
    """ComputerSystem.Reset, with its types in it, in ResetActionInfo, or both."""
    path, system = places.host(persona), persona.system
    types = {} if system.reset_info == "only" else {"ResetType": system.reset_types}
    entry = action(path, "ComputerSystem.Reset", **types)
    if system.reset_info != "none":
        entry["#ComputerSystem.Reset"]["@Redfish.ActionInfo"] = f"{path}/ResetActionInfo"
    return entry


def _reset_info(persona: Persona, path: str) -> Entry:
    parameter = {
        "Name": "ResetType",
        "Required": True,
        "DataType": "String",
        "AllowableValues": list(persona.system.reset_types),
    }
    properties = {"Parameters": [parameter]}
    return resource(f"{path}/ResetActionInfo", "ActionInfo.v1_1_2.ActionInfo", "Reset Action Info", properties)
