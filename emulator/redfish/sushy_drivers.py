"""A driver for sushy-tools' emulator that shows it the ports of one host: the one at the address of the request.

It keeps nothing of its own: identities are the persona's ids, so that links inside its documents are right.
sushy_emulator.py imports this module after it has replaced sushy-tools' store on disk.
"""

from collections.abc import Mapping

import flask
from sushy_tools import error
from sushy_tools.emulator.main import Application
from sushy_tools.emulator.resources.systems.fakedriver import FakeDriver

from emulator.machine.machine import Machine


class OneSystem(FakeDriver):  # type: ignore[misc]  # sushy-tools publishes no types
    """The host of one machine."""

    def __init__(self, machine: Machine) -> None:
        """Nothing is copied from the machine."""
        self._machine = machine

    @property
    def systems(self) -> list[str]:
        """The one id."""
        return [self._machine.board.persona.system.id]

    def uuid(self, identity: str) -> str:
        """The id itself, which sushy-tools puts into its links."""
        if identity not in self.systems:
            raise error.NotFound(f"there is no system {identity}")
        return identity

    def name(self, identity: str) -> str:
        """The id."""
        return self.uuid(identity)

    def get_nics(self, identity: str) -> list[dict[str, str]]:
        """The ports of the host."""
        self.uuid(identity)
        names = self._machine.board.persona.system.nics
        return [{"id": name, "mac": self._machine.board.mac(number)} for number, name in enumerate(names)]


class EveryBmc(Application):  # type: ignore[misc]  # sushy-tools publishes no types
    """sushy-tools' application with the driver of the machine at the address of the request."""

    machines: Mapping[str, Machine]

    @property
    def systems(self) -> OneSystem:
        """The driver for this request."""
        return OneSystem(self.machines[flask.request.environ["SERVER_NAME"]])
