"""Needs in stages; those that one file meets with one update, together. Pure."""

from collections.abc import Sequence

from provisioner.firmware.needs import Need
from provisioner.firmware.stages import Step, in_stages, strongest


def staged(needs: Sequence[Need]) -> list[list[list[int]]]:
    """The places of the needs: stages of groups, each group one update, in the order of the needs.

    Raises `ValueError` when needs wait for each other.
    """
    before = _before(needs)
    groups = _grouped(needs, before)
    stages = in_stages(
        [
            Step(strongest([needs[place].wanted.activation for place in places]), after)
            for places, after in zip(groups, _between(groups, before), strict=True)
        ]
    )
    return [[groups[one] for one in stage] for stage in stages]


def _before(needs: Sequence[Need]) -> list[set[int]]:
    """For each need, those that have to run before: its class's stepping stone, and what its class comes after."""
    last = {need.wanted.component: place for place, need in enumerate(needs)}
    before: list[set[int]] = []
    for place, need in enumerate(needs):
        if place and needs[place - 1].index == need.index:
            before.append({place - 1})
        else:
            before.append({last[name] for name in need.wanted.after if name in last})
    return before


def _grouped(needs: Sequence[Need], before: Sequence[set[int]]) -> list[list[int]]:
    """As few groups as the order lets there be."""
    groups: list[list[int]] = [[place] for place in range(len(needs))]
    for place, need in enumerate(needs):
        shared = need.shared
        earlier = [group for group in groups if group[0] < place and needs[group[0]].shared == shared]
        for group in earlier if shared else []:
            joined = [sorted({*group, place}) if one is group else one for one in groups if one != [place]]
            if not _circular(_between(joined, before)):
                groups = joined
                break
    return groups


def _between(groups: Sequence[Sequence[int]], before: Sequence[set[int]]) -> list[frozenset[int]]:
    """The groups that have to run before each group."""
    group_of = {place: number for number, places in enumerate(groups) for place in places}
    return [frozenset(group_of[one] for place in places for one in before[place]) for places in groups]


def _circular(after: Sequence[frozenset[int]]) -> bool:
    left = dict(enumerate(after))
    while free := [one for one, waits in left.items() if left.keys().isdisjoint(waits)]:
        for one in free:
            del left[one]
    return bool(left)
