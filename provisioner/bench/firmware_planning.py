"""`firstlight bench firmware`: what it costs to plan the firmware of a large site, and to say what it runs."""

import random
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from profiles.firmware.bundle import FirmwareBundle
from provisioner.bench.process import apart, cores, cost_of
from provisioner.firmware.classes import Classes
from provisioner.firmware.compliance import compliance
from provisioner.firmware.domains import Neighbourhood
from provisioner.firmware.plan import plan_for
from provisioner.firmware.pool import plan_pool
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, Domains, Node

_ACTIVATIONS = ("bmc_reset", "host_reset", "power_cycle", "ac_cycle")
_GPUS = 8
_BEHIND = 0.3


@dataclass(frozen=True, slots=True)
class PlanningFigures:
    """CPU seconds of one core. `planning`: each node by itself, no two of them equal; `pool`: told by equal plans."""

    nodes: int
    components: int
    parts: int
    stages: int
    planning_seconds: float
    pool_seconds: float
    compliance_seconds: float

    def figures(self) -> dict[str, float | str | None]:
        """What is below its name."""
        return {name: value for name, value in asdict(self).items() if name != "nodes"}


def measure(nodes: int, components: int = 40) -> PlanningFigures:
    """In a process of its own, on one core. Raises `BadInput`."""
    return apart(cores()[-1], _measure, nodes, components)


def _measure(count: int, components: int) -> PlanningFigures:
    bundle = _bundle(components)
    nodes = [_node(number) for number in range(count)]
    inventories = {node.name: _inventory(bundle, number) for number, node in enumerate(nodes)}
    stages, planning = cost_of(_plan_each, bundle, list(inventories.values()))
    _, pool = cost_of(plan_pool, bundle, nodes, inventories, Neighbourhood(nodes))
    _, complying = cost_of(compliance, bundle, inventories)
    return PlanningFigures(
        nodes=count,
        components=components,
        parts=sum(map(len, inventories.values())),
        stages=stages,
        planning_seconds=round(planning.cpu_seconds, 2),
        pool_seconds=round(pool.cpu_seconds, 2),
        compliance_seconds=round(complying.cpu_seconds, 2),
    )


def _plan_each(bundle: FirmwareBundle, inventories: list[tuple[FirmwareComponent, ...]]) -> int:
    """The stages of all plans."""
    classes = Classes(bundle)
    return sum(len(plan_for(classes, one, allow_irreversible=True).stages) for one in inventories)


def _bundle(components: int) -> FirmwareBundle:
    """Every way to activate; chains of `after`; a stepping stone in every fifth class; files that classes share."""
    return FirmwareBundle.model_validate(
        {
            "name": "bench",
            "description": "for figures",
            "hardware_class": "bench",
            "policy": {"newer": "refuse", "unknown": "refuse"},
            "components": [_component(number) for number in range(components)],
        }
    )


def _component(number: int) -> dict[str, object]:
    shared = number % 4 == 3
    releases = [
        {
            "version": f"1.{rank}",
            "artefact": {"file": "f.fw", "sha256": f"{0 if shared else number + 1:032x}{rank:032x}", "size_bytes": 1},
            "requires": "1.1" if rank == 2 and number % 5 == 0 and not shared else None,
        }
        for rank in range(3)
    ]
    return {
        "component": f"class-{number}",
        "inventory": [f"Part_{number}_*"],
        "version": "1.2",
        "artefact": releases[-1]["artefact"],
        "releases": releases,
        "activation": _ACTIVATIONS[number % len(_ACTIVATIONS)],
        "domain": "tray",
        "expected_minutes": 5,
        "targets": "absent" if shared else "parts",
        "after": [f"class-{number - 6}"] if number % 6 == 5 and number > 6 else [],
    }


def _inventory(bundle: FirmwareBundle, number: int) -> tuple[FirmwareComponent, ...]:
    """Of node `number`: the same at each run; three parts of ten are behind."""
    chance = random.Random(number)  # noqa: S311  figures, not secrets
    return tuple(
        _part(index, place, "1.2" if chance.random() > _BEHIND else chance.choice(("1.0", "1.1")))
        for index in range(len(bundle.components))
        for place in range(_GPUS if index == 0 else 1)
    )


def _part(index: int, place: int, version: str) -> FirmwareComponent:
    identifier = f"Part_{index}_{place}"
    uri = f"/redfish/v1/UpdateService/FirmwareInventory/{identifier}"
    return FirmwareComponent(identifier, uri, identifier, version, updateable=True)


def _node(number: int) -> Node:
    rack = RackName(f"r{number // 16}")
    address = BmcAddress(f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}")
    since = datetime(2026, 1, 1, tzinfo=UTC)
    name = NodeName(f"{rack}-u{number % 16}")
    return Node(name, rack, number % 16, address, State.READY, since, domains=Domains(tray=f"t{number // 2}"))
