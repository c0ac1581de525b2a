"""What an operation ends with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.models.identifiers import RunKey
from provisioner.models.lifecycle import State


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state that the node goes to, and what was seen that allows it."""

    to: State
    reason: str


Operation = Callable[[Durable, World, RunKey], Awaitable[Outcome]]
