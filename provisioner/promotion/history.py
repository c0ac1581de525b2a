"""Which releases a channel may be rolled back to. Pure."""

from collections.abc import Sequence

from provisioner.models.channel import Movement
from provisioner.models.identifiers import ReleaseDigest


def earlier(history: Sequence[Movement]) -> tuple[ReleaseDigest, ...]:
    """Those that stood before the one that stands now, newest first. `history`: oldest first.

    What a rollback has taken away is none of them: it comes back by a promotion, through the gates.
    """
    stack: list[ReleaseDigest] = []
    for move in history:
        if move.promotion is None and move.release in stack:
            while stack[-1] != move.release:
                stack.pop()
        else:
            stack.append(move.release)
    before = list(dict.fromkeys(reversed(stack[:-1])))
    return tuple(one for one in before if one != stack[-1])
