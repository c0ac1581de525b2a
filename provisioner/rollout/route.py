"""The way of a unit: which state follows which, what is done in each, and what proves that a node is there."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.rollout.intent import Action
from provisioner.rollout.observation import Facts
from provisioner.rollout.spec import Spec
from provisioner.rollout.state import Heading, UnitState, UnitTask


class Aim(NamedTuple):
    """What a unit is held against."""

    spec: Spec
    task: UnitTask
    release: ReleaseDigest
    """The one that it heads to."""


ACTIONS: Mapping[UnitState, Action] = {
    UnitState.RESERVED: Action.RESERVE,
    UnitState.CORDONED: Action.CORDON,
    UnitState.DRAINING: Action.DRAIN,
    UnitState.FW_STAGED: Action.STAGE_FIRMWARE,
    UnitState.FW_APPLIED: Action.APPLY_FIRMWARE,
    UnitState.FLIPPED: Action.FLIP,
    UnitState.REBOOTING: Action.REBOOT,
    UnitState.OBSERVED: Action.OBSERVE,
    UnitState.CHECKED: Action.CHECK,
    UnitState.BURNED_IN: Action.BURN_IN,
    UnitState.READY: Action.LABEL,
    UnitState.UNCORDONED: Action.UNCORDON,
    UnitState.RETURN_FLIPPED: Action.FLIP,
    UnitState.RETURN_REBOOTING: Action.REBOOT,
    UnitState.RETURN_CHECKED: Action.CHECK,
}
"""`DRAINED` is where the unit waits for nothing: from there on, something changes on it."""

_OUT = (UnitState.RESERVED, UnitState.CORDONED, UnitState.DRAINING, UnitState.DRAINED)
_FIRMWARE = (UnitState.FW_STAGED, UnitState.FW_APPLIED)
_NEW = (UnitState.FLIPPED, UnitState.REBOOTING, UnitState.OBSERVED, UnitState.CHECKED)
_OLD = (UnitState.RETURN_FLIPPED, UnitState.RETURN_REBOOTING, UnitState.RETURN_CHECKED)
_IN = (UnitState.READY, UnitState.UNCORDONED)

AFTER_BOOT = frozenset(
    {UnitState.OBSERVED, UnitState.CHECKED, UnitState.BURNED_IN, UnitState.READY, UnitState.UNCORDONED}
)
"""On the way to the new release: its nodes have booted it, and must not boot again by themselves."""


def following(spec: Spec, task: UnitTask) -> UnitState:
    """The state after the one that the task is in, as it is heading."""
    if task.state is UnitState.UNCORDONED:
        ends = {Heading.TO_NEW: UnitState.ON_NEW, Heading.TO_OLD: UnitState.ON_OLD, Heading.CANCELLED: task.origin}
        return ends[task.heading]
    firmware = _FIRMWARE if spec.stages_firmware else ()
    burn_in = (UnitState.BURNED_IN,) if spec.burn_in else ()
    forth: tuple[UnitState, ...] = (*_OUT, *firmware, *_NEW, *burn_in, *_IN)
    way = forth if task.heading is Heading.TO_NEW else (*_OUT, *_OLD, *_IN)
    return way[way.index(task.state) + 1]


Proof = Callable[[Aim, NodeName, Facts], bool]
"""Whether a node was observed to be where its unit is being brought to."""


def _rebooted(aim: Aim, node: NodeName, facts: Facts) -> bool:
    return facts.boot_id != aim.task.boot_ids.get(node)


def _given_back(aim: Aim, _node: NodeName, facts: Facts) -> bool:
    return aim.spec.name not in facts.cordons and facts.holder != aim.spec.name


def _checked(_aim: Aim, _node: NodeName, facts: Facts) -> bool:
    return facts.healthy and facts.checked == facts.boot_id


PROOFS: Mapping[UnitState, Proof] = {
    UnitState.RESERVED: lambda aim, _, facts: facts.holder == aim.spec.name,
    UnitState.CORDONED: lambda aim, _, facts: aim.spec.name in facts.cordons,
    UnitState.DRAINING: lambda _aim, _, facts: facts.jobs == 0,
    UnitState.DRAINED: lambda _aim, _, _facts: True,
    UnitState.FW_STAGED: lambda aim, _, facts: aim.spec.to_firmware in {facts.staged_firmware, facts.firmware},
    UnitState.FW_APPLIED: lambda aim, _, facts: facts.firmware == aim.spec.to_firmware,
    UnitState.FLIPPED: lambda aim, _, facts: facts.active == aim.release,
    UnitState.REBOOTING: _rebooted,
    UnitState.OBSERVED: lambda aim, _, facts: facts.digest == aim.release,
    UnitState.CHECKED: _checked,
    UnitState.BURNED_IN: lambda _aim, _, facts: facts.burned_in == facts.boot_id,
    UnitState.READY: lambda aim, _, facts: facts.label == aim.release,
    UnitState.UNCORDONED: _given_back,
    UnitState.RETURN_FLIPPED: lambda aim, _, facts: facts.active == aim.release,
    UnitState.RETURN_REBOOTING: lambda aim, node, facts: _rebooted(aim, node, facts) and facts.digest == aim.release,
    UnitState.RETURN_CHECKED: _checked,
}
"""By the state that the unit is being brought to."""
