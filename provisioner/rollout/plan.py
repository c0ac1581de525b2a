"""Which unit goes in which wave. The same inventory and seed give the same plan, so that it can be reviewed."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from provisioner.errors import Refused
from provisioner.models.identifiers import NodeName
from provisioner.rollout.defects import visible_defect
from provisioner.rollout.refusals import problems
from provisioner.rollout.spec import Spec
from provisioner.rollout.unit import Domain, DomainKind, Unit, UnitName

SHARES = (0.01, 0.05, 0.20, 1.0)
"""Of all nodes, after each wave that follows the canaries."""
IRREVERSIBLE_SHARES = (0.005, 0.025, 0.10, 0.40, 1.0)


@dataclass(frozen=True, slots=True)
class Lane:
    """Units of one hardware class that stand in the same domains that have a cap: one of them blocks the others."""

    hardware_class: str
    domains: tuple[Domain, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """What the waves up to one can see. `defect`: the smallest share of failing nodes that is seen with 95 %."""

    nodes: int
    defect: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What will happen to every unit of the pool."""

    spec: Spec
    units: Mapping[UnitName, Unit]
    """All of the pool: also those that are left out count for the floor."""
    waves: tuple[tuple[UnitName, ...], ...]
    excluded: Mapping[UnitName, str]
    """Why each that is left out is."""
    sights: tuple[Sight, ...]
    """One for each wave."""
    unit_of: Mapping[NodeName, UnitName]
    lane_of: Mapping[UnitName, int]
    lanes: tuple[Lane, ...]
    """By the number in `lane_of`."""


def plan(
    spec: Spec,
    units: Iterable[Unit],
    *,
    broken: Collection[UnitName] = (),
    rejected: Collection[str] = (),
) -> Plan:
    """Order the units of a pool in waves.

    `broken`: units of which no node is available now; they go first in their wave, and fill the first wave only where
    nothing else does. `rejected`: hardware classes that the new release was returned from.
    Raises `Refused` with every reason why it cannot be.
    """
    known = sorted(units, key=lambda unit: unit.name)
    excluded = {unit.name: reason for unit in known if (reason := _reason_to_leave_out(spec, unit))}
    broken = frozenset(broken)
    taken = _ordered(spec, [unit for unit in known if unit.name not in excluded], broken)
    waves = _waves(spec, taken, broken)
    found = tuple(problems(spec, known, waves, broken=broken, rejected=rejected))
    if found:
        raise Refused(spec.name, ((problem.pointer, problem.text) for problem in found))
    lane_of, lanes = _lanes(spec, taken)
    return Plan(
        spec=spec,
        units={unit.name: unit for unit in known},
        waves=tuple(tuple(unit.name for unit in wave) for wave in waves),
        excluded=excluded,
        sights=tuple(_sights(waves)),
        unit_of={node: unit.name for unit in known for node in unit.nodes},
        lane_of=lane_of,
        lanes=lanes,
    )


def _reason_to_leave_out(spec: Spec, unit: Unit) -> str | None:
    if unit.release == spec.to_release:
        return "runs the release already"
    if unit.missing:
        return f"short of {unit.missing} nodes already: complete it first"
    return None


def _ordered(spec: Spec, units: Sequence[Unit], broken: Collection[UnitName]) -> list[Unit]:
    """By chance, as the seed says, with neighbours on one leaf far apart; broken ones first, precious ones last."""
    by_chance = sorted(units, key=lambda unit: _chance(spec.seed, unit.name))
    seen: Counter[Domain | None] = Counter()
    keyed: list[tuple[tuple[bool, bool, int, int], Unit]] = []
    for position, unit in enumerate(by_chance):
        leaf = min((one for one in unit.domains if one.kind is DomainKind.LEAF), default=None)
        keyed.append(((unit.precious, unit.name not in broken, seen[leaf] if leaf else 0, position), unit))
        seen[leaf] += 1
    return [unit for _, unit in sorted(keyed, key=lambda pair: pair[0])]


def _chance(seed: int, name: UnitName) -> bytes:
    return blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()


def _waves(spec: Spec, units: Sequence[Unit], broken: Collection[UnitName]) -> list[list[Unit]]:
    canaries = _canaries(spec, units, broken)
    names = {unit.name for unit in canaries}
    rest = [unit for unit in units if unit.name not in names]
    total = sum(len(unit.nodes) for unit in units)
    done = sum(len(unit.nodes) for unit in canaries)
    waves = [canaries] if canaries else []
    shares = iter(IRREVERSIBLE_SHARES if spec.irreversible else SHARES)
    share = next(shares)
    wave: list[Unit] = []
    for unit in rest:
        wave.append(unit)
        done += len(unit.nodes)
        if share < 1.0 and done >= share * total:
            waves.append(wave)
            wave = []
            while share < 1.0 and done >= share * total:
                share = next(shares)
    return [*waves, wave] if wave else waves


def _canaries(spec: Spec, units: Sequence[Unit], broken: Collection[UnitName]) -> list[Unit]:
    """Some of each hardware class and firmware baseline. What is broken already would say nothing: only for want."""
    left: Counter[tuple[str, str]] = Counter()
    for unit in units:
        left[unit.hardware_class, unit.firmware] = spec.canaries_per_kind
    chosen = []
    for unit in sorted(units, key=lambda unit: (unit.precious, unit.name in broken)):
        kind = (unit.hardware_class, unit.firmware)
        if left[kind] > 0:
            left[kind] -= 1
            chosen.append(unit)
    return chosen


def _sights(waves: Sequence[Sequence[Unit]]) -> Iterator[Sight]:
    nodes = 0
    for wave in waves:
        nodes += sum(len(unit.nodes) for unit in wave)
        yield Sight(nodes, visible_defect(nodes))


def _lanes(spec: Spec, units: Sequence[Unit]) -> tuple[Mapping[UnitName, int], tuple[Lane, ...]]:
    numbers: dict[tuple[str, frozenset[Domain]], int] = {}
    capped = frozenset(spec.caps)
    lane_of = {
        unit.name: numbers.setdefault(
            (unit.hardware_class, frozenset(one for one in unit.domains if one.kind in capped)), len(numbers)
        )
        for unit in units
    }
    return lane_of, tuple(Lane(hardware_class, tuple(sorted(domains))) for hardware_class, domains in numbers)
