"""Drivers for sushy-tools' emulator that show it one machine: the one at the address of the request.

They keep nothing of their own: identities are the persona's ids, so that links inside its documents are right.
sushy_emulator.py imports this module after it has replaced sushy-tools' store on disk.
"""

from collections.abc import Mapping
from typing import Any

import flask
from sushy_tools import error
from sushy_tools.emulator.main import Application
from sushy_tools.emulator.resources import indicators, vmedia
from sushy_tools.emulator.resources.chassis import StaticDriver as ChassisDriver
from sushy_tools.emulator.resources.managers import FakeDriver as ManagerDriver
from sushy_tools.emulator.resources.systems.fakedriver import FakeDriver

from emulator.machine.machine import Machine


class OneSystem(FakeDriver):  # type: ignore[misc]  # sushy-tools publishes no types
    """The host of one machine."""

    def __init__(self, machine: Machine) -> None:
        """Nothing is copied from the machine."""
        self._machine = machine
        self._images: dict[str, Any] = {}

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

    def get_boot_image(self, identity: str, device: str) -> Any:
        """What virtual media holds."""
        self.uuid(identity)
        return self._images.get(device, (None, False, False))

    def set_boot_image(
        self,
        identity: str,
        device: str,
        boot_image: str | None = None,
        write_protected: bool = True,  # noqa: FBT001, FBT002  (sushy-tools' signature)
    ) -> None:
        """Put an image into virtual media; the host does not boot from it."""
        self.uuid(identity)
        self._images[device] = (boot_image, write_protected, bool(boot_image))


class OneManager(ManagerDriver):  # type: ignore[misc]  # sushy-tools publishes no types
    """The BMC of one machine."""

    def __init__(self, machine: Machine, config: Any, logger: Any) -> None:
        """Nothing is copied from the machine."""
        super().__init__(config, logger, None, None)
        self._persona = machine.board.persona

    @property
    def managers(self) -> list[str]:
        """The one id."""
        return [self._persona.bmc.id]

    def get_manager(self, identity: str) -> dict[str, str]:
        """The id three times: sushy-tools puts the UUID into its links."""
        if identity != self._persona.bmc.id:
            raise error.NotFound(f"there is no manager {identity}")
        return {"Id": identity, "UUID": identity, "Name": "Manager"}

    def get_managed_systems(self, manager: dict[str, str]) -> list[str]:
        """The host."""
        return [self._persona.system.id] if manager else []

    def get_managed_chassis(self, manager: dict[str, str]) -> list[str]:
        """All chassis."""
        return [chassis.id for chassis in self._persona.chassis] if manager else []

    def get_managers_for_system(self, ident: str) -> list[str]:
        """The one id."""
        return self.managers if ident == self._persona.system.id else []


class ItsChassis(ChassisDriver):  # type: ignore[misc]  # sushy-tools publishes no types
    """The chassis of one machine."""

    def __init__(self, machine: Machine, config: Any, logger: Any) -> None:
        """Nothing is copied from the machine."""
        super().__init__(config, logger)
        self._ids = [chassis.id for chassis in machine.board.persona.chassis]

    @property
    def chassis(self) -> list[str]:
        """The ids; the one that holds the host is the first."""
        return self._ids

    def uuid(self, identity: str) -> str:
        """The id itself."""
        if identity not in self._ids:
            raise error.NotFound(f"there is no chassis {identity}")
        return identity

    def name(self, identity: str) -> str:
        """The id."""
        return self.uuid(identity)


class Drivers:
    """All drivers of one machine."""

    def __init__(self, machine: Machine, config: Any, logger: Any) -> None:
        """As sushy-tools makes them, for one machine."""
        self.systems = OneSystem(machine)
        self.managers = OneManager(machine, config, logger)
        self.chassis = ItsChassis(machine, config, logger)
        self.indicators = indicators.StaticDriver(config, logger)
        self.vmedia = vmedia.StaticDriver(config, logger)


class EveryBmc(Application):  # type: ignore[misc]  # sushy-tools publishes no types
    """sushy-tools' application with the drivers of the machine at the address of the request."""

    machines: Mapping[str, Machine]
    drivers: dict[str, Drivers]

    @property
    def here(self) -> Drivers:
        """The drivers for this request."""
        address = flask.request.environ["SERVER_NAME"]
        if address not in self.drivers:
            self.drivers[address] = Drivers(self.machines[address], self.config, self.logger)
        return self.drivers[address]

    @property
    def systems(self) -> OneSystem:
        """The host."""
        return self.here.systems

    @property
    def managers(self) -> OneManager:
        """The BMC."""
        return self.here.managers

    @property
    def chassis(self) -> ItsChassis:
        """The chassis."""
        return self.here.chassis

    @property
    def indicators(self) -> Any:
        """The lights."""
        return self.here.indicators

    @property
    def vmedia(self) -> Any:
        """Virtual media."""
        return self.here.vmedia
