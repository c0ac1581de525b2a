"""Power: supplies, limits and what is drawn, in the old way (Power) and the new one (PowerSubsystem)."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, action, collection, link, links, resource
from emulator.tree.gauges import gauge_of
from emulator.tree.redundancy import legacy_redundancy, redundant_group
from emulator.tree.sensors import quotes


def build(persona: Persona) -> Iterator[Entry]:
    """What the persona has of both, the limit of the box and what it draws."""
    if persona.physics.legacy:
        yield _legacy(persona)
    if persona.physics.subsystems:
        yield from _subsystem(persona)
    yield from _controls(persona)


def _legacy(persona: Persona) -> Entry:
    box = places.outer(persona)
    path = f"{box}/Power"
    control = {
        "@odata.id": f"{path}#/PowerControl/0",
        "MemberId": "0",
        "Name": "System Power Control",
        "PhysicalContext": "Chassis",
        "PowerConsumedWatts": None,
        "PowerRequestedWatts": persona.physics.maximum_watts,
        "PowerAvailableWatts": 0,
        "PowerCapacityWatts": capacity(persona),
        "PowerAllocatedWatts": persona.physics.maximum_watts,
        "PowerMetrics": {
            "IntervalInMin": 1,
            "MinConsumedWatts": None,
            "MaxConsumedWatts": None,
            "AverageConsumedWatts": None,
        },
        "PowerLimit": {
            "LimitInWatts": persona.physics.highest_limit_watts,
            "LimitException": "NoAction",
            "CorrectionInMs": 1000,
        },
        "RelatedItem": links([box]),
        "Status": HEALTHY,
    }
    supplies = [_legacy_supply(persona, path, number) for number in range(persona.supplies.count)]
    properties: Document = {"PowerControl": [control], "PowerSupplies": supplies}
    if supplies:
        count, spare = persona.supplies.count, persona.supplies.spare
        entry = legacy_redundancy(path, "PowerSupplies", name="Power Supply Redundancy", count=count, spare=spare)
        properties["Redundancy"] = [entry]
    return resource(path, "Power.v1_7_0.Power", "Power", properties)


def capacity(persona: Persona) -> int:
    """What the supplies can give; without supplies, what the rack's shelves give to one box."""
    supplies = persona.supplies
    return supplies.count * supplies.watts or persona.physics.highest_limit_watts


def _legacy_supply(persona: Persona, path: str, number: int) -> Document:
    supplies = persona.supplies
    return {
        "@odata.id": f"{path}#/PowerSupplies/{number}",
        "MemberId": str(number),
        "Name": _name(persona, number),
        "PowerSupplyType": "AC",
        "LineInputVoltageType": "AC240V",
        "LineInputVoltage": None,
        "PowerCapacityWatts": supplies.watts,
        "PowerInputWatts": None,
        "PowerOutputWatts": None,
        "LastPowerOutputWatts": None,
        "InputRanges": [
            {"InputType": "AC", "MinimumVoltage": 200, "MaximumVoltage": 240, "OutputWattage": supplies.watts}
        ],
        **_identity(persona, number),
        "RelatedItem": links([places.outer(persona)]),
        "Redundancy": [link(f"{path}#/Redundancy/0")],
        "Status": HEALTHY,
    }


def _name(persona: Persona, number: int) -> str:
    return persona.supplies.name.replace("{n}", str(number + 1))


def _identity(persona: Persona, number: int) -> Document:
    supplies = persona.supplies
    return {
        "Manufacturer": supplies.manufacturer,
        "Model": supplies.model,
        "PartNumber": supplies.part_number,
        "SerialNumber": f"${{hex:supply {number}}}",
        "FirmwareVersion": supplies.version,
    }


def _subsystem(persona: Persona) -> Iterator[Entry]:
    path = f"{places.outer(persona)}/PowerSubsystem"
    units = places.supplies(persona)
    properties: Document = {"CapacityWatts": capacity(persona), "Status": HEALTHY}
    if units:
        properties["PowerSupplies"] = link(f"{path}/PowerSupplies")
        properties["PowerSupplyRedundancy"] = [redundant_group(units, persona.supplies.spare)]
    yield resource(path, "PowerSubsystem.v1_1_0.PowerSubsystem", "Power Subsystem", properties)
    if units:
        yield collection(f"{path}/PowerSupplies", "PowerSupplyCollection", "Power Supply Collection", units)
    for number, unit in enumerate(units):
        yield from _supply(persona, unit, number)


def _supply(persona: Persona, path: str, number: int) -> Iterator[Entry]:
    supplies = persona.supplies
    properties = {
        "PowerSupplyType": "AC",
        "InputNominalVoltageType": "AC240V",
        "LineInputStatus": "Normal",
        "PowerCapacityWatts": supplies.watts,
        **_identity(persona, number),
        "HotPluggable": True,
        "InputRanges": [{"NominalVoltageType": "AC240V", "CapacityWatts": supplies.watts}],
        "Location": {"PartLocation": {"LocationType": "Bay", "ServiceLabel": _name(persona, number)}},
        "Metrics": link(f"{path}/Metrics"),
        "Status": HEALTHY,
    }
    yield resource(path, "PowerSupply.v1_5_0.PowerSupply", _name(persona, number), properties)
    metrics = quotes(
        InputVoltage=gauge_of(persona, "supply", "Voltage", number),
        InputPowerWatts=gauge_of(persona, "supply-input", "Power", number),
        OutputPowerWatts=gauge_of(persona, "supply-output", "Power", number),
        TemperatureCelsius=gauge_of(persona, "supply", "Temperature", number),
    )
    name = f"{_name(persona, number)} Metrics"
    kind = "PowerSupplyMetrics.v1_1_0.PowerSupplyMetrics"
    yield resource(f"{path}/Metrics", kind, name, {**metrics, "Status": HEALTHY})


def _controls(persona: Persona) -> Iterator[Entry]:
    path = f"{places.outer(persona)}/Controls"
    limits = ["PowerLimit"] if persona.physics.power_limit else []
    yield collection(path, "ControlCollection", "Control Collection", limits)
    if not limits:
        return
    properties = {
        "ControlType": "Power",
        "ControlMode": "Automatic",
        "SetPoint": persona.physics.highest_limit_watts,
        "SetPointUnits": "W",
        "SetPointUpdateTime": None,
        "AllowableMax": persona.physics.highest_limit_watts,
        "AllowableMin": persona.physics.idle_watts,
        "Implementation": "Programmable",
        "PhysicalContext": "Chassis",
        **quotes(Sensor=gauge_of(persona, "box", "Power", 0)),
        "Status": HEALTHY,
        "@Redfish.WriteableProperties": ["SetPoint", "ControlMode"],
        "Actions": action(f"{path}/PowerLimit", "Control.ResetToDefaults"),
    }
    yield resource(f"{path}/PowerLimit", "Control.v1_5_0.Control", "Power limit of the box", properties)
