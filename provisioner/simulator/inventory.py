"""The simulated site: NVLink domains in racks, leaf domains and power domains."""

from provisioner.models.identifiers import NodeName
from provisioner.rollout.unit import Domain, DomainKind, Unit, UnitName
from provisioner.simulator.scenario import OLD, Scenario

UNITS_PER_LEAF = 4
UNITS_PER_POWER = 8


def units_of(scenario: Scenario) -> list[Unit]:
    """Every unit; the last one is smaller where the nodes do not come out even. `BadInput` for what cannot be."""
    scenario.check()
    units = []
    size = scenario.domain_size
    for number, first in enumerate(range(0, scenario.nodes, size)):
        name = UnitName(f"d{number:05}") if size > 1 else UnitName(f"n{number:06}")
        count = min(size, scenario.nodes - first)
        nodes = tuple(NodeName(f"{name}-{node:02}") for node in range(count)) if size > 1 else (NodeName(name),)
        units.append(Unit(name, nodes, "simulated", "unchanged", OLD, frozenset(_domains(number))))
    return units


def _domains(number: int) -> tuple[Domain, ...]:
    return (
        Domain(DomainKind.LEAF, f"leaf{number // UNITS_PER_LEAF:05}"),
        Domain(DomainKind.POWER, f"power{number // UNITS_PER_POWER:05}"),
    )
