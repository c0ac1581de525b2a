"""Readings: what sensors say now, and where other resources quote them."""

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.machine.machine import Machine
from emulator.tree.document import Document
from emulator.tree.gauges import Gauge, gauge_of, gauges

_SCALES = {"Temperature": 0.01, "Power": 0.02, "Rotational": 0.02}  # how much a recorded reading moves


def measure_sensor(machine: Machine, document: Document) -> None:
    """The reading, and whether it is too much."""
    if "Reading" not in document:
        return
    gauge = gauges(machine.board.persona).get(str(document["@odata.id"]))
    if gauge is None:
        _move(machine, document)
        return
    document["Reading"] = machine.instruments.read(gauge)
    machine.sensors.see(gauge, document["Reading"])
    if "Status" in document:
        document["Status"] = status(machine, gauge, document["Reading"])


def measure_quotes(machine: Machine, document: Document) -> None:
    """Every reading inside another resource that says of which sensor it is."""
    known = gauges(machine.board.persona)
    for quote in _quotes(document):
        gauge = known.get(str(quote["DataSourceUri"]))
        if gauge is not None:
            _quote(machine, gauge, quote)


def status(machine: Machine, gauge: Gauge, reading: float | None) -> Document:
    """Status of a sensor with that reading."""
    if not machine.instruments.available(gauge):
        dark = machine.host.heat.phase == "off"
        return {"State": "StandbyOffline" if dark else "UnavailableOffline", "Health": "OK" if dark else "Warning"}
    return {"State": "Enabled", "Health": _health(gauge, reading)}


def reading(machine: Machine, part: str, kind: str, number: int) -> float | None:
    """What the sensor of one part reads; None: there is none, or it has no reading."""
    gauge = gauge_of(machine.board.persona, part, kind, number)
    return machine.instruments.read(gauge) if gauge else None


def _health(gauge: Gauge, reading: float | None) -> str:
    if reading is None:
        return "OK"
    if gauge.critical is not None and reading >= gauge.critical:
        return "Critical"
    if gauge.least is not None and reading < gauge.least:
        return "Critical"
    return "Warning" if gauge.caution is not None and reading >= gauge.caution else "OK"


def _move(machine: Machine, document: Document) -> None:
    """A recorded reading, which moves a little."""
    scale, recorded = _SCALES.get(str(document.get("ReadingType")), 0.0), document["Reading"]
    if scale and isinstance(recorded, int | float):
        moved = recorded * (1 + scale * machine.host.heat.noise(str(document["@odata.id"])))
        document["Reading"] = round(moved, 2)


def _quotes(value: Any) -> Iterator[Document]:
    if isinstance(value, Mapping):
        if "DataSourceUri" in value and "Reading" in value and isinstance(value, dict):
            yield value
        for part in value.values():
            yield from _quotes(part)
    elif isinstance(value, list):
        for part in value:
            yield from _quotes(part)


def _quote(machine: Machine, gauge: Gauge, quote: Document) -> None:
    found = machine.instruments.read(gauge)
    quote["Reading"] = found
    if gauge.kind == "Rotational":
        most = machine.board.persona.fans.maximum_rpm
        quote["SpeedRPM"] = found
        quote["Reading"] = None if found is None else round(100 * found / max(1, most), 1)
