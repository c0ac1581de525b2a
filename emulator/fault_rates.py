"""Faults that a share of a fleet has: which BMCs are hit follows from the seed, how many from the share.

Of n BMCs, `share` times n are hit, to the nearest whole number, halves up. A BMC that is hit at a share is hit at every
greater one. Of `wrong-slot` the share is that of the BMCs that are in a wrong slot, and they come in pairs.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence

from emulator.config import BmcEntry, FaultRate, FleetConfig
from emulator.errors import ConfigError
from emulator.faults.inventory import WRONG_SLOT

_IDENTITY = ("persona", "serial", "uuid", "factory_password", "installed")
"""What moves with a machine. Faults do not: whoever names a BMC means the one that answers there."""


def with_fault_rates(fleet: FleetConfig) -> FleetConfig:
    """`fleet` with the faults of its `fault_rates` on the BMCs that they hit. Raises ConfigError."""
    bmcs: Sequence[BmcEntry] = fleet.bmcs
    for rate in fleet.fault_rates:
        bmcs = _swap(bmcs, rate, fleet.seed) if rate.fault == WRONG_SLOT.name else _plant(bmcs, rate, fleet.seed)
    return fleet.model_copy(update={"bmcs": tuple(bmcs)})


def hit(names: Iterable[str], rate: FaultRate, seed: int) -> set[str]:
    """The names that a fault hits."""
    ranked = sorted(names, key=lambda name: hashlib.sha256(f"{seed} {rate.fault} {name}".encode()).digest())
    return set(ranked[: _count(rate.share * len(ranked))])


def _plant(bmcs: Sequence[BmcEntry], rate: FaultRate, seed: int) -> list[BmcEntry]:
    names = hit((entry.name for entry in bmcs), rate, seed)
    setting = {rate.fault: rate.arguments}
    return [
        entry.model_copy(update={"faults": (*entry.faults, setting)}) if entry.name in names else entry
        for entry in bmcs
    ]


def _swap(bmcs: Sequence[BmcEntry], rate: FaultRate, seed: int) -> list[BmcEntry]:
    pairs = dict(_neighbours(bmcs))
    wanted = _count(rate.share * len(bmcs) / 2)
    if wanted > len(pairs):
        raise ConfigError(
            f"fault_rates: {rate.fault}: a share of {rate.share:g} is {wanted} pairs, and only {len(pairs)} pairs of "
            "neighbours of one persona stand in one rack; take a smaller share"
        )
    chosen = hit(pairs, rate.model_copy(update={"share": wanted / max(1, len(pairs))}), seed)
    swapped = {entry.name: entry for entry in bmcs}
    for first in chosen:
        one, other = swapped[first], swapped[pairs[first]]
        swapped[first], swapped[pairs[first]] = _in_place_of(one, other), _in_place_of(other, one)
    return list(swapped.values())


def _neighbours(bmcs: Sequence[BmcEntry]) -> Iterable[tuple[str, str]]:
    """Pairs of one persona that are next to each other in one rack; each BMC is in one pair at most."""
    waiting: dict[tuple[str, str], str] = {}
    for entry in bmcs:
        kind = (entry.rack, entry.persona)
        if kind in waiting:
            yield waiting.pop(kind), entry.name
        else:
            waiting[kind] = entry.name


def _in_place_of(slot: BmcEntry, machine: BmcEntry) -> BmcEntry:
    """`slot` with the machine that the plan has for another one."""
    moved = {field: getattr(machine, field) for field in _IDENTITY}
    return slot.model_copy(update={**moved, "meant_for": machine.name})


def _count(exactly: float) -> int:
    return math.floor(exactly + 0.5)
