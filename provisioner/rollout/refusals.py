"""Why a rollout cannot be planned: every reason at once, each with the field that it is about."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from provisioner.rollout.spec import Floor, Spec
from provisioner.rollout.unit import Unit, UnitName


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason. `pointer`: a JSON pointer into the spec."""

    pointer: str
    text: str


def problems(
    spec: Spec,
    units: Sequence[Unit],
    waves: Sequence[Sequence[Unit]],
    *,
    broken: Collection[UnitName],
    rejected: Collection[str],
) -> Iterator[Problem]:
    """Every reason. `units`: the whole pool; `waves`: those of it that would be taken."""
    yield from _of_spec(spec)
    if not waves:
        yield Problem("/pool", f"nothing in {spec.pool} is to be taken: choose another pool or release")
    taken = [unit for wave in waves for unit in wave]
    yield from _twice(units)
    for hardware_class in sorted({unit.hardware_class for unit in taken} & set(rejected)):
        yield Problem("/to_release", f"it was returned from {hardware_class} before: make another release")
    if not any(_of_floor(spec.floor)):
        yield from _under_floor(spec, units, [unit for unit in taken if unit.name not in broken])
    if spec.control_required:
        yield from _without_control(spec, units, waves)


def _of_spec(spec: Spec) -> Iterator[Problem]:
    yield from _of_floor(spec.floor)
    if spec.from_release == spec.to_release:
        yield Problem("/to_release", "it is the release to come from: name another one")
    if spec.irreversible and spec.to_firmware is None:
        yield Problem("/irreversible", "only firmware is irreversible, and the release brings none: leave it out")
    if spec.tries < 1 or spec.canaries_per_kind < 1:
        yield Problem("/tries" if spec.tries < 1 else "/canaries_per_kind", "must be at least 1")
    for kind, cap in spec.caps.items():
        if cap < 1:
            yield Problem(f"/caps/{kind}", f"{cap} units at once is none: raise it to 1, or leave it out")
    longest = max((window.duration for window in spec.windows if window.weekdays), default=timedelta(0))
    if spec.windows and longest < spec.worst_case():
        text = f"the longest is open for {longest}, and a unit may take {spec.worst_case()}: open it longer"
        yield Problem("/windows", f"{text}, or shorten drain_deadline, deadlines or tries")


def _of_floor(floor: Floor) -> Iterator[Problem]:
    if (floor.count is None) == (floor.percent is None):
        yield Problem("/floor", "name either count or percent")
    elif floor.percent is not None and not 0 <= floor.percent <= 100:
        yield Problem("/floor/percent", f"{floor.percent} is not a share: it goes from 0 to 100")
    elif floor.count is not None and floor.count < 0:
        yield Problem("/floor/count", f"{floor.count} is below 0")


def _twice(units: Sequence[Unit]) -> Iterator[Problem]:
    counted = Counter(node for unit in units for node in unit.nodes)
    for node in sorted(node for node, times in counted.items() if times > 1):
        yield Problem("/pool", f"{node} is in more than one unit: correct the inventory")


def _under_floor(spec: Spec, units: Sequence[Unit], taken: Sequence[Unit]) -> Iterator[Problem]:
    totals: Counter[str] = Counter()
    for unit in units:
        totals[unit.hardware_class] += len(unit.nodes)
    largest: dict[str, Unit] = {}
    for unit in taken:
        if len(unit.nodes) > len(largest.get(unit.hardware_class, unit).nodes) or unit.hardware_class not in largest:
            largest[unit.hardware_class] = unit
    field = "count" if spec.floor.percent is None else "percent"
    for hardware_class, unit in sorted(largest.items()):
        room = spec.floor.may_be_out(totals[hardware_class])
        if len(unit.nodes) > room:
            text = f"lets {room} of {totals[hardware_class]} {hardware_class} nodes be out of service (rounded down)"
            more = f"{unit.name} needs {len(unit.nodes)}: lower the floor"
            yield Problem(f"/floor/{field}", f"{text}, and {more}")


def _without_control(spec: Spec, units: Sequence[Unit], waves: Sequence[Sequence[Unit]]) -> Iterator[Problem]:
    canaries = {unit.name for wave in waves[:1] for unit in wave}
    left = {unit.hardware_class for unit in units if unit.name not in canaries and unit.release != spec.to_release}
    for hardware_class in sorted({unit.hardware_class for wave in waves for unit in wave} - left):
        text = f"no {hardware_class} unit is left on the old release to compare with while the first wave is judged"
        yield Problem("/control_required", f"{text}: say false to do without")
