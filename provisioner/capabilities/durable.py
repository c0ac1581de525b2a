"""Durability, as far as operations know it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ParamSpec, Protocol, TypeAlias, TypeVar

P = ParamSpec("P")
Recorded: TypeAlias = bool | int | float | str | Sequence["Recorded"] | None
"""What a step may return: plain JSON, so that any later version of the service can read it."""

R = TypeVar("R", bound=Recorded)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how patiently a step is tried when the BMC does not answer sensibly.

    Only `BmcUnreachable` is retried, and `AnswerLost`, since a step reads the world before it acts; every other
    error ends the step at once.
    """

    attempts: int = 8
    first_wait: timedelta = timedelta(seconds=5)
    growth: float = 2.0
    last_try_within: timedelta = timedelta(minutes=11)
    """No further try after that: one that waits by itself (`until`) would otherwise wait as often as it is tried."""


PATIENT = Retry()
"""About ten minutes in all: a BMC reset (5 to 10 minutes in the field), a switch restart, a cable pushed in again."""


class Durable(Protocol):
    """What an operation may ask of the engine. Everything else in an operation's body must be deterministic."""

    async def step(self, name: str, action: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `action` at least once and record its JSON result under `name`; later runs return the recorded one.

        A name belongs to one function: replay checks names, not arguments. Retries as `PATIENT` says.
        """
        ...

    async def sleep(self, duration: timedelta) -> None:
        """Wait, also across a restart of the process."""
        ...

    async def wait_signal(self, topic: str, timeout: timedelta) -> bool:
        """Wait until somebody signals `topic` to this run (True) or the time is over (False)."""
        ...
