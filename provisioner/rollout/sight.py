"""What the store, the agents and the scheduler know of a node, as the facts that a rollout stands on. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from provisioner.models.boot import BootTicket, FailureKind
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.turn import Booted, Turn
from provisioner.rollout.inventory import SERVING
from provisioner.rollout.observation import Facts, Failure
from provisioner.rollout.route import ACTIONS
from provisioner.rollout.state import UnitTask

_PARKED = frozenset({State.MAINTENANCE, State.DECOMMISSIONING, State.DECOMMISSIONED})


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What the scheduler says of one node."""

    cordons: frozenset[str] = frozenset()
    jobs: int = 0
    asked: bool = False
    """A scheduler has been asked: what it says of our cordon counts, and not what we believe to have told it."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything that is known of one node at one moment."""

    node: Node
    turn: Turn | None = None
    booted: Booted | None = None
    ticket: BootTicket | None = None
    """The newest, whether it has booted or not."""
    scheduled: Scheduled = field(default_factory=Scheduled)


def facts_of(
    sight: Sight, rollout: str, images: Mapping[ReleaseDigest, str], task: UnitTask | None, told: Failure | None
) -> Facts:
    """`images`: the image of each release that a node of the pool may run. `told`: what our own action ended with."""
    node, turn = sight.node, sight.turn
    ours = turn is not None and turn.holder == rollout
    boot = _boot_id(sight.booted)
    passed = boot if _is_through(sight) else ""
    return Facts(
        digest=_digest(sight, images),
        active=turn.active if turn is not None and turn.holder is not None else node.release,
        boot_id=boot,
        firmware="",
        label=turn.label if turn is not None else None,
        healthy=node.hold is None and (ours or node.state in SERVING or node.state in _PARKED),
        cordons=_cordons(sight, rollout, ours=ours),
        holder=turn.holder if turn is not None else None,
        jobs=sight.scheduled.jobs,
        checked=passed,
        burned_in=passed,
        failure=told or _failure(sight, task),
        image_refused=_refused(sight.ticket, node),
    )


def _boot_id(booted: Booted | None) -> str:
    """Of the generation that was ordered: one that loses power in its burn-in is booted again by us, not by itself."""
    return "" if booted is None else f"g{booted.generation}"


def _is_through(sight: Sight) -> bool:
    """Ready, in the generation that it has booted."""
    node, booted = sight.node, sight.booted
    return node.state in SERVING and node.hold is None and booted is not None and booted.generation == node.generation


def _digest(sight: Sight, images: Mapping[ReleaseDigest, str]) -> ReleaseDigest | None:
    """The release whose image its agent reports; of several with one image, the one that it was given.

    An image that none of them has is told by its own digest: it is no release that anybody wants.
    """
    node, booted, turn = sight.node, sight.booted, sight.turn
    if booted is None:
        return None
    known = [node.release, *((turn.blue, turn.green) if turn else ())]
    if booted.generation < node.generation:  # what it ran before it was given another release
        known = [*known[1:], known[0]]
    names = [one for one in known if one is not None and images.get(one) == booted.image]
    if not names:
        names = sorted(name for name, image in images.items() if image == booted.image)
    return names[0] if names else ReleaseDigest(booted.image)


def _cordons(sight: Sight, rollout: str, *, ours: bool) -> frozenset[str]:
    """The scheduler's, ours, and what keeps a node from work that nobody has told the scheduler."""
    found = set(sight.scheduled.cordons)
    state = sight.node.state
    if ours and sight.turn is not None and sight.turn.cordoned and not sight.scheduled.asked:
        found.add(rollout)
    elif not ours and sight.node.hold is None and state not in SERVING:
        found.add(f"Firstlight ({state.value.replace('_', ' ')})")
    return frozenset(found)


def _failure(sight: Sight, task: UnitTask | None) -> Failure | None:
    """A hold that came after our last action on the node began: an older one says nothing of it."""
    node, turn = sight.node, sight.turn
    action = None if task is None else ACTIONS.get(task.state)
    if node.hold is None or turn is None or task is None or action is None:
        return None
    if not turn.effect.endswith(f"/{task.unit}/{action}/g{task.generation}/a{task.attempt}"):
        return None
    return Failure(action, task.attempt, task.generation, node.hold.reason)


def _refused(ticket: BootTicket | None, node: Node) -> str:
    if ticket is None or ticket.generation != node.generation or ticket.boot_id is not None or not ticket.failures:
        return ""
    last = ticket.failures[-1]
    return last.detail if last.kind is FailureKind.INTEGRITY else ""
