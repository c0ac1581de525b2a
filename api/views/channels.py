"""Channels as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.channel import Channel, Movement, Pointer


class PointerView(BaseModel):
    """Where a channel of one hardware class stands. `release` is a digest."""

    channel: Channel
    hardware_class: str
    release: str
    revision: int
    since: datetime
    who: str

    @classmethod
    def of(cls, pointer: Pointer) -> Self:
        """The view."""
        return cls.model_validate(_values(pointer))


class ChannelList(BaseModel):
    """Every pointer that there is, by hardware class and channel."""

    channels: list[PointerView]


class MovementView(BaseModel):
    """One move of a pointer. `promotion`: the id of the one that was applied; null: it was rolled back."""

    revision: int
    release: str
    at: datetime
    who: str
    reason: str
    promotion: str | None

    @classmethod
    def of(cls, movement: Movement) -> Self:
        """The view."""
        return cls(
            revision=movement.revision,
            release=movement.release,
            at=movement.at,
            who=movement.who,
            reason=movement.reason,
            promotion=movement.promotion,
        )


class ChannelView(PointerView):
    """One pointer with its history, newest first, and the releases that it may be rolled back to, nearest first."""

    rollback_to: list[str]
    history: list[MovementView]

    @classmethod
    def assemble(cls, pointer: Pointer, earlier: Sequence[str], history: Sequence[Movement]) -> Self:
        """The view. `history`: oldest first."""
        moves = [MovementView.of(one) for one in reversed(history)]
        return cls.model_validate(_values(pointer) | {"rollback_to": list(earlier), "history": moves})


def _values(pointer: Pointer) -> dict[str, object]:
    return {
        "channel": pointer.channel,
        "hardware_class": pointer.hardware_class,
        "release": pointer.release,
        "revision": pointer.revision,
        "since": pointer.since,
        "who": pointer.who,
    }
