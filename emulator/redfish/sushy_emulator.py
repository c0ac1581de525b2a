"""sushy-tools' emulator behind the services of ours."""

from collections.abc import Mapping

from emulator.machine.machine import Machine
from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response


class SushyEmulator:
    """Answers what no service of ours does."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        """`machines` by the address of their BMC."""
        self._machines = machines

    async def answer(self, request: Request) -> Response:
        """404 so far."""
        raise not_found(request.path)
