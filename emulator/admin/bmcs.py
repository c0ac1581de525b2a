"""One BMC: its physical truth, its faults, and hands that pull its plugs."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.admin.answers import Refused, answer, body_of, machine_of
from emulator.faults.catalog import read_fault
from emulator.faults.parts import check_part
from emulator.machine.machine import Machine

_ACTIONS: Mapping[str, Callable[[Machine], None]] = {
    "power-loss": Machine.lose_power,
    "power-restore": Machine.restore_power,
    "kill-agent": Machine.kill_agent,
}


class Bmcs:
    """The machines, by name."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        """Nothing happens to them before someone asks."""
        self._machines = machines

    def routes(self) -> list[Route]:
        """What there is."""
        return [
            Route("/bmcs", self.show_all, methods=["GET"]),
            Route("/bmcs/{name}", self.show, methods=["GET"]),
            Route("/bmcs/{name}/faults/{fault}", self.set_fault, methods=["PUT"]),
            Route("/bmcs/{name}/faults/{fault}", self.clear_fault, methods=["DELETE"]),
            Route("/bmcs/{name}/load", self.set_load, methods=["PUT"]),
            Route("/bmcs/{name}/actions/{action}", self.act, methods=["POST"]),
        ]

    async def show_all(self, request: Request) -> Response:
        """The truth of all machines; ?fields=name,power,... for less of it, ?rack=r01 for fewer."""
        rack = request.query_params.get("rack")
        fields = [name for name in request.query_params.get("fields", "").split(",") if name]
        chosen = [one for one in self._machines.values() if rack in (None, one.board.entry.rack)]
        return answer([_part(machine.truth(), fields) for machine in chosen])

    async def show(self, request: Request) -> Response:
        """The truth of one machine, whatever its BMC tells its clients."""
        return answer(machine_of(request, self._machines).truth())

    async def set_fault(self, request: Request) -> Response:
        """Make a fault happen from now on; its arguments are the body."""
        machine = machine_of(request, self._machines)
        try:
            name, arguments = read_fault({request.path_params["fault"]: await body_of(request)})
            check_part(machine.board.persona, name, arguments)
            machine.set_fault(name, arguments)
        except (ValueError, TypeError) as error:
            raise Refused(400, str(error)) from error
        return answer(machine.truth())

    async def clear_fault(self, request: Request) -> Response:
        """Heal a fault."""
        machine = machine_of(request, self._machines)
        try:
            read_fault(request.path_params["fault"])
        except ValueError as error:
            raise Refused(404, str(error)) from error
        machine.clear_fault(request.path_params["fault"])
        return answer(machine.truth())

    async def set_load(self, request: Request) -> Response:
        """{"fraction": 0.9}: what runs on the host needs this share of it all until it restarts; null: none."""
        machine = machine_of(request, self._machines)
        fraction = (await body_of(request)).get("fraction")
        if fraction is not None and (isinstance(fraction, bool) or not isinstance(fraction, int | float)):
            raise Refused(400, "fraction: a number from 0 to 1, or null")
        if fraction is not None and not 0 <= fraction <= 1:
            raise Refused(400, f"fraction: {fraction} is not between 0 and 1")
        try:
            machine.host.heat.bear(fraction)
        except ValueError as error:
            raise Refused(409, str(error)) from error
        return answer(machine.truth())

    async def act(self, request: Request) -> Response:
        """power-loss, power-restore or kill-agent."""
        machine = machine_of(request, self._machines)
        act = _ACTIONS.get(request.path_params["action"])
        if act is None:
            raise Refused(404, f"known actions: {', '.join(_ACTIONS)}")
        act(machine)
        return answer(machine.truth())


def _part(truth: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    unknown = [name for name in fields if name not in truth]
    if unknown:
        raise Refused(400, f"unknown field '{unknown[0]}'; known: {', '.join(truth)}")
    return {name: truth[name] for name in fields} if fields else truth
