"""The life of a node as data: what runs in each state, who owns it, how long it takes, where it may go."""

from dataclasses import dataclass
from datetime import timedelta

from provisioner.models.instruction import Owner
from provisioner.models.lifecycle import State


@dataclass(frozen=True, slots=True)
class Rule:
    """One state. `expected` is shown to people; `limit` is when a person is asked instead of waiting longer."""

    state: State
    doing: str
    """For people: what goes on here."""
    owner: Owner
    expected: timedelta | None
    limit: timedelta | None
    """None: a node may rest here for ever."""
    operation: str | None = None
    """What the reconciler starts here; None where only people move a node on."""
    to: tuple[State, ...] = ()
    """Where it may go; the first is where success leads."""
    disruptive: bool = False
    """Resets or flashes: takes one of the rack's slots."""


def _minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


_S = State

TABLE: tuple[Rule, ...] = (
    Rule(
        state=_S.DISCOVERED,
        doing="finding out which server this is",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(1),
        limit=_minutes(60),
        operation="identify",
        to=(_S.IDENTIFIED,),
    ),
    Rule(
        state=_S.IDENTIFIED,
        doing="replacing the factory password of the BMC",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(1),
        limit=_minutes(60),
        operation="secure",
        to=(_S.SECURED,),
    ),
    Rule(
        state=_S.SECURED,
        doing="reading what is inside",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(3),
        limit=_minutes(60),
        operation="inventory",
        to=(_S.INVENTORIED,),
    ),
    Rule(
        state=_S.INVENTORIED,
        doing="choosing the release for this hardware",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(1),
        limit=_minutes(60),
        operation="assign",
        to=(_S.UPDATING_FIRMWARE,),
    ),
    Rule(
        state=_S.UPDATING_FIRMWARE,
        doing="bringing firmware to its bundle",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(60),
        limit=_minutes(360),
        operation="update_firmware",
        to=(_S.CONFIGURING_BIOS,),
        disruptive=True,
    ),
    Rule(
        state=_S.CONFIGURING_BIOS,
        doing="bringing BIOS settings to their profile",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(15),
        limit=_minutes(120),
        operation="configure_bios",
        to=(_S.BOOTING,),
        disruptive=True,
    ),
    Rule(
        state=_S.BOOTING,
        doing="booting the image from the network",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(12),
        limit=_minutes(180),
        operation="boot",
        to=(_S.BURNING_IN,),
        disruptive=True,
    ),
    Rule(
        state=_S.BURNING_IN,
        doing="burning in",
        owner=Owner.FIRSTLIGHT,
        expected=_minutes(30),
        limit=timedelta(days=9),
        operation="burn_in",
        to=(_S.READY, _S.BOOTING, _S.UPDATING_FIRMWARE, _S.CONFIGURING_BIOS),
    ),
    Rule(
        state=_S.READY,
        doing="ready to be handed over",
        owner=Owner.OPERATOR,
        expected=None,
        limit=None,
        to=(_S.IN_PRODUCTION, _S.INVENTORIED, _S.DECOMMISSIONING),
    ),
    Rule(
        state=_S.IN_PRODUCTION,
        doing="in production",
        owner=Owner.OPERATOR,
        expected=None,
        limit=None,
        to=(_S.MAINTENANCE, _S.DECOMMISSIONING),
    ),
    Rule(
        state=_S.MAINTENANCE,
        doing="out of production for work on it",
        owner=Owner.OPERATOR,
        expected=timedelta(hours=4),
        limit=None,
        to=(_S.IN_PRODUCTION, _S.INVENTORIED, _S.DECOMMISSIONING),
    ),
    Rule(
        state=_S.HELD,
        doing="waiting for a person",
        owner=Owner.TECHNICIAN,
        expected=None,
        limit=None,
        to=(_S.DECOMMISSIONING,),
    ),
    Rule(
        state=_S.DECOMMISSIONING,
        doing="being taken out of service",
        owner=Owner.OPERATOR,
        expected=timedelta(hours=1),
        limit=None,
        to=(_S.DECOMMISSIONED,),
    ),
    Rule(
        state=_S.DECOMMISSIONED,
        doing="out of service",
        owner=Owner.OPERATOR,
        expected=None,
        limit=None,
    ),
)

RULES: dict[State, Rule] = {rule.state: rule for rule in TABLE}

HOLDABLE: frozenset[State] = frozenset(State) - {_S.HELD, _S.DECOMMISSIONED}
"""States from which a node can be held; it goes back to the one that it came from."""

AT_REST: frozenset[State] = frozenset(rule.state for rule in TABLE if rule.operation is None)
"""States in which nothing runs by itself."""


def may_move(origin: State, to: State) -> bool:
    """The table allows the move (holds and their end included)."""
    if to is State.HELD:
        return origin in HOLDABLE
    if origin is State.HELD:
        return to in HOLDABLE or to in RULES[origin].to
    return to in RULES[origin].to


def remaining(state: State) -> timedelta:
    """How long the way from the start of `state` to ready normally takes."""
    total, current = timedelta(), state
    while (rule := RULES[current]).operation is not None:
        total += rule.expected or timedelta()
        current = rule.to[0]
    return total
