"""The admin API: the physical truth of each machine, faults, and hands that pull plugs. 127.0.0.1 only."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.machine.machine import Machine

_ACTIONS: Mapping[str, Callable[[Machine], None]] = {
    "power-loss": Machine.lose_power,
    "power-restore": Machine.restore_power,
    "kill-agent": Machine.kill_agent,
}


def admin_application(machines: Mapping[str, Machine]) -> Starlette:
    """The application; `machines` by name."""
    hands = _Hands(machines)
    return Starlette(
        routes=[
            Route("/bmcs", hands.list, methods=["GET"]),
            Route("/bmcs/{name}", hands.show, methods=["GET"]),
            Route("/bmcs/{name}/faults/{fault}", hands.set_fault, methods=["PUT"]),
            Route("/bmcs/{name}/faults/{fault}", hands.clear_fault, methods=["DELETE"]),
            Route("/bmcs/{name}/actions/{action}", hands.act, methods=["POST"]),
        ]
    )


class _Hands:
    def __init__(self, machines: Mapping[str, Machine]) -> None:
        self._machines = machines

    async def list(self, _request: Request) -> Response:
        return _json([machine.truth() for machine in self._machines.values()])

    async def show(self, request: Request) -> Response:
        machine = self._machines.get(request.path_params["name"])
        return _json(machine.truth()) if machine else _no_bmc(request)

    async def set_fault(self, request: Request) -> Response:
        machine = self._machines.get(request.path_params["name"])
        if machine is None:
            return _no_bmc(request)
        try:
            arguments = orjson.loads(await request.body() or b"{}")
            machine.set_fault(request.path_params["fault"], dict(arguments))
        except (ValueError, TypeError) as error:
            return _json({"error": str(error)}, 400)
        return _json(machine.truth())

    async def clear_fault(self, request: Request) -> Response:
        machine = self._machines.get(request.path_params["name"])
        if machine is None:
            return _no_bmc(request)
        machine.board.faults.clear(request.path_params["fault"])
        return _json(machine.truth())

    async def act(self, request: Request) -> Response:
        machine = self._machines.get(request.path_params["name"])
        if machine is None:
            return _no_bmc(request)
        act = _ACTIONS.get(request.path_params["action"])
        if act is None:
            return _json({"error": f"known actions: {', '.join(_ACTIONS)}"}, 404)
        act(machine)
        return _json(machine.truth())


def _json(content: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json")


def _no_bmc(request: Request) -> Response:
    return _json({"error": f"no BMC is named {request.path_params['name']}"}, 404)
