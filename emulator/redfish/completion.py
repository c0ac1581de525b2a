"""What sushy-tools' documents lack or say of a machine of its own invention."""

from typing import Any

from emulator.machine.board import Board
from emulator.machine.machine import Machine
from emulator.redfish.http import link

_MANAGERS = "/redfish/v1/Managers/"
_CHASSIS = "/redfish/v1/Chassis/"
_INVENTED = ("@Redfish.Copyright", "Location", "HeightMm", "WidthMm", "DepthMm", "WeightKg", "AssetTag", "SKU")


def complete(machine: Machine, path: str, document: dict[str, Any]) -> dict[str, Any]:
    """`document` as this machine's persona has it."""
    for name in _INVENTED:
        document.pop(name, None)
    if path.count("/") == 4 and path.startswith(_MANAGERS):
        document.update(_manager(machine.board, path))
    elif path.count("/") == 4 and path.startswith(_CHASSIS):
        document.update(_chassis(machine, path))
    elif path.endswith("/Thermal"):
        for reading in (*document["Temperatures"], *document["Fans"]):
            reading.pop("RelatedItem", None)  # it names processors of another machine
            reading.pop("Redundancy", None)
        for reading in document["Temperatures"]:
            reading["SensorNumber"] = int(reading["SensorNumber"])
    return document


def _manager(board: Board, path: str) -> dict[str, Any]:
    bmc = board.persona.bmc
    reset = {
        "target": f"{path}/Actions/Manager.Reset",
        "ResetType@Redfish.AllowableValues": list(bmc.reset_types),
    }
    return {
        "UUID": board.uuid[:-2] + "fe",
        "ServiceEntryPointUUID": board.uuid,
        "Description": "Baseboard Management Controller",
        "Model": bmc.model,
        "FirmwareVersion": board.bmc_version,
        "EthernetInterfaces": link(f"{path}/EthernetInterfaces"),
        "Actions": {"#Manager.Reset": reset},
    }


def _chassis(machine: Machine, path: str) -> dict[str, Any]:
    board = machine.board
    chassis = next(part for part in board.persona.chassis if path.endswith(f"/{part.id}"))
    holds_host = chassis == board.persona.chassis[0]
    return {
        "@odata.type": "#Chassis.v1_14_0.Chassis",
        "UUID": board.uuid[:-2] + "cc",
        "ChassisType": chassis.type,
        "Manufacturer": board.persona.system.manufacturer,
        "Model": chassis.model,
        "PartNumber": board.persona.system.part_number,
        "SerialNumber": board.serial if holds_host else f"{board.serial}-{chassis.id}",
        "PowerState": machine.host.power,
    }
