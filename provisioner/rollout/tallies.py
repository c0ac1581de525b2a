"""What the counts of a rollout must be, counted from nothing: at its start, and to hold the running ones against."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from provisioner.rollout.plan import Plan
from provisioner.rollout.state import AT_REST, IN_SERVICE, Rollout, Tallies, Trials, UnitState
from provisioner.rollout.unit import Domain, UnitName


def first_tallies(plan: Plan) -> Tallies:
    """Before anything was seen: nothing that nobody has heard of is in service."""
    nodes: Counter[str] = Counter()
    for unit in plan.units.values():
        nodes[unit.hardware_class] += len(unit.nodes)
    return Tallies(
        up=dict.fromkeys(plan.units, 0),
        nodes=nodes,
        in_service=dict.fromkeys(nodes, 0),
        control={hardware_class: Trials(nodes=count) for hardware_class, count in nodes.items()},
    )


def recounted(rollout: Rollout) -> Tallies:
    """The tallies that can be counted from the rest of the rollout; its own where only history tells."""
    units = rollout.plan.units
    states = {name: rollout.tasks[name].state if name in rollout.tasks else UnitState.ON_OLD for name in units}
    there = {name: [node for node in unit.nodes if node not in rollout.gone] for name, unit in units.items()}
    up = {
        name: sum(node in rollout.facts and rollout.facts[node].available for node in nodes)
        for name, nodes in there.items()
    }
    nodes: Counter[str] = Counter()
    in_service = dict.fromkeys({unit.hardware_class for unit in units.values()}, 0)
    for name, unit in units.items():
        nodes[unit.hardware_class] += len(there[name])
        in_service[unit.hardware_class] += up[name] if states[name] in IN_SERVICE else 0
    in_hand = dict.fromkeys(name for name, state in states.items() if state not in AT_REST)
    busy = _busy(rollout.plan, in_hand)
    return replace(rollout.tallies, up=up, nodes=nodes, in_service=in_service, in_hand=in_hand, busy=busy)


def _busy(plan: Plan, in_hand: Mapping[UnitName, None]) -> Mapping[Domain, int]:
    return Counter(domain for name in in_hand for domain in plan.lanes[plan.lane_of[name]].domains)
