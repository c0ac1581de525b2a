"""Sensors: one resource each, and how others quote them."""

from collections.abc import Iterable, Iterator

from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, Document, Entry, collection, links, resource
from emulator.tree.gauges import UNITS, Gauge, gauges

_RANGES = {"Temperature": (-40, 127), "Percent": (0, 100)}


def build(persona: Persona) -> Iterator[Entry]:
    """The sensors of each chassis; redfish/ writes their readings over these documents."""
    found: dict[str, list[Gauge]] = {}
    for gauge in gauges(persona).values():
        found.setdefault(gauge.chassis, []).append(gauge)
    for box, held in found.items():
        paths = [gauge.path for gauge in held]
        yield collection(f"{box}/Sensors", "SensorCollection", "Sensor Collection", paths)
        for gauge in held:
            yield resource(gauge.path, "Sensor.v1_7_0.Sensor", gauge.name, _properties(gauge))


def _properties(gauge: Gauge) -> Document:
    low, high = _RANGES.get(gauge.kind, (0, None))
    return {
        "ReadingType": gauge.kind,
        "ReadingUnits": UNITS[gauge.kind],
        "Reading": None,
        **({"ReadingRangeMin": low, "ReadingRangeMax": high} if high is not None else {}),
        "PhysicalContext": gauge.context,
        "Status": HEALTHY,
        **_thresholds(gauge),
        "RelatedItem": links([gauge.related]),
    }


def _thresholds(gauge: Gauge) -> Document:
    limits = {
        "UpperCaution": gauge.caution,
        "UpperCritical": gauge.critical,
        "UpperFatal": gauge.fatal,
        "LowerCritical": gauge.least,
        **_cold(gauge),
    }
    there = {name: {"Reading": limit} for name, limit in limits.items() if limit is not None}
    return {"Thresholds": there} if there else {}


def _cold(gauge: Gauge) -> dict[str, float]:
    """Temperatures that no room has."""
    inlet = gauge.part == "inlet"
    return {"LowerCaution": 5.0, "LowerCritical": 3.0, "LowerFatal": 0.0} if inlet else {}


def quote(gauge: Gauge | None) -> Document | None:
    """The reading of a sensor inside another resource; None where there is no sensor."""
    return {"DataSourceUri": gauge.path, "Reading": None} if gauge else None


def quotes(**properties: Gauge | None) -> Document:
    """The readings of the sensors that there are."""
    return {name: quote(gauge) for name, gauge in properties.items() if gauge}


def quoted_array(found: Iterable[Gauge]) -> list[Document]:
    """Readings as a list of them says whose each is."""
    return [
        {"DataSourceUri": gauge.path, "DeviceName": gauge.name, "PhysicalContext": gauge.context, "Reading": None}
        for gauge in found
    ]
