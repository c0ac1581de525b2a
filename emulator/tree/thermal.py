"""Cooling: temperatures, fans and leaks, in the old way (Thermal) and the new one (ThermalSubsystem)."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.gauges import Gauge, gauge_of, gauges
from emulator.tree.redundancy import legacy_redundancy, redundant_group
from emulator.tree.sensors import quote, quoted_array, quotes


def build(persona: Persona) -> Iterator[Entry]:
    """What the persona has of both."""
    if persona.physics.legacy:
        yield _legacy(persona)
    if persona.physics.subsystems:
        yield from _subsystem(persona)
    if persona.physics.leak_detectors:
        yield from _leaks(persona)


def thermal_gauges(persona: Persona) -> tuple[Gauge, ...]:
    """The temperatures that Thermal lists, in its order: those of the first chassis and the hottest parts."""
    shown = ("inlet", "exhaust", "board", "cpu", "memory", "gpu", "gpu-memory", "switch", "drive", "adapter")
    found = [gauge for gauge in gauges(persona).values() if gauge.kind == "Temperature" and gauge.part in shown]
    return tuple(sorted(found, key=lambda gauge: shown.index(gauge.part)))


def _legacy(persona: Persona) -> Entry:
    path = f"{places.outer(persona)}/Thermal"
    temperatures = [_temperature(path, *one) for one in enumerate(thermal_gauges(persona))]
    fans = [_legacy_fan(persona, path, number) for number in range(persona.fans.count)]
    properties: Document = {"Temperatures": temperatures, "Fans": fans}
    if fans:
        count, spare = persona.fans.count, persona.fans.spare
        entry = legacy_redundancy(path, "Fans", name="Fan Redundancy", count=count, spare=spare)
        properties["Redundancy"] = [entry]
    return resource(path, "Thermal.v1_7_0.Thermal", "Thermal", properties)


def _temperature(path: str, number: int, gauge: Gauge) -> Document:
    return {
        "@odata.id": f"{path}#/Temperatures/{number}",
        "MemberId": str(number),
        "Name": gauge.name,
        "SensorNumber": number + 1,
        "PhysicalContext": gauge.context,
        "ReadingCelsius": None,
        "UpperThresholdNonCritical": gauge.caution,
        "UpperThresholdCritical": gauge.critical,
        "UpperThresholdFatal": gauge.fatal,
        "MinReadingRangeTemp": -40,
        "MaxReadingRangeTemp": 127,
        "RelatedItem": links([gauge.related]),
        "Status": HEALTHY,
    }


def _legacy_fan(persona: Persona, path: str, number: int) -> Document:
    return {
        "@odata.id": f"{path}#/Fans/{number}",
        "MemberId": str(number),
        "Name": persona.fans.ids[number],
        "PhysicalContext": "SystemBoard",
        "SensorNumber": 100 + number,
        "Reading": None,
        "ReadingUnits": "RPM",
        "MinReadingRange": 0,
        "MaxReadingRange": persona.fans.maximum_rpm,
        "LowerThresholdCritical": persona.fans.minimum_rpm // 4,
        "Redundancy": [link(f"{path}#/Redundancy/0")],
        "RelatedItem": links([places.outer(persona)]),
        "Status": HEALTHY,
    }


def _subsystem(persona: Persona) -> Iterator[Entry]:
    path = f"{places.outer(persona)}/ThermalSubsystem"
    units = places.fans(persona)
    properties: Document = {"ThermalMetrics": link(f"{path}/ThermalMetrics"), "Status": HEALTHY}
    if units:
        properties["Fans"] = link(f"{path}/Fans")
        properties["FanRedundancy"] = [redundant_group(units, persona.fans.spare)]
    if persona.physics.leak_detectors:
        properties["LeakDetection"] = link(f"{path}/LeakDetection")
    yield resource(path, "ThermalSubsystem.v1_3_0.ThermalSubsystem", "Thermal Subsystem", properties)
    yield _metrics(persona, path)
    if units:
        yield collection(f"{path}/Fans", "FanCollection", "Fan Collection", units)
    for number, unit in enumerate(units):
        properties = {
            "PhysicalContext": "Chassis",
            "HotPluggable": True,
            **quotes(SpeedPercent=gauge_of(persona, "fan", "Rotational", number)),
            "Location": {"PartLocation": {"LocationType": "Bay", "ServiceLabel": persona.fans.ids[number]}},
            "Status": HEALTHY,
        }
        yield resource(unit, "Fan.v1_5_0.Fan", persona.fans.ids[number], properties)


def _metrics(persona: Persona, path: str) -> Entry:
    inlet, exhaust = (gauge_of(persona, part, "Temperature", 0) for part in ("inlet", "exhaust"))
    summary = {"Ambient": quote(inlet), "Intake": quote(inlet), "Exhaust": quote(exhaust)}
    here = [gauge for gauge in thermal_gauges(persona) if gauge.chassis == places.outer(persona)]
    properties = {"TemperatureSummaryCelsius": summary, "TemperatureReadingsCelsius": quoted_array(here)}
    return resource(f"{path}/ThermalMetrics", "ThermalMetrics.v1_3_0.ThermalMetrics", "Thermal Metrics", properties)


def _leaks(persona: Persona) -> Iterator[Entry]:
    box, detectors = places.outer(persona), places.leak_detectors(persona)
    detection = {
        "LeakDetectorGroups": [
            {"GroupName": "Coolant", "Detectors": [_leak_quote(path) for path in detectors], "Status": HEALTHY}
        ],
        "Status": {**HEALTHY, "HealthRollup": "OK"},
    }
    path = f"{box}/ThermalSubsystem/LeakDetection"
    yield resource(path, "LeakDetection.v1_1_0.LeakDetection", "Leak Detection Systems", detection)
    yield collection(f"{box}/LeakDetectors", "LeakDetectorCollection", "Leak Detector Collection", detectors)
    for one in detectors:
        name = one.rsplit("/", 1)[-1].replace("_", " ")
        detector = {
            "LeakDetectorType": "Moisture",
            "DetectorState": "OK",
            "PhysicalContext": "LiquidInlet" if "Manifold" in name else "GPU",
            "Status": HEALTHY,
        }
        yield resource(one, "LeakDetector.v1_5_0.LeakDetector", name, detector)


def _leak_quote(path: str) -> Document:
    return {"DataSourceUri": path, "DeviceName": path.rsplit("/", 1)[-1], "DetectorState": "OK"}
