"""The admin API: the physical truth of each machine, faults, and hands that pull plugs. 127.0.0.1 only."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.admin.answers import Refused, answer
from emulator.admin.bmcs import Bmcs
from emulator.admin.domains import Domains
from emulator.admin.fleet import Fleet
from emulator.admin.media import Media
from emulator.config import FleetConfig
from emulator.machine.machine import Machine


def admin_application(machines: Mapping[str, Machine], planned: FleetConfig) -> Starlette:
    """The application; `machines` by name, `planned` is the fleet as its file says."""
    routes = [
        *Fleet(machines, planned).routes(),
        *Bmcs(machines).routes(),
        *Media(machines).routes(),
        *Domains(machines).routes(),
    ]

    async def index(_request: Request) -> Response:
        """What there is."""
        return answer({"endpoints": [line for route in application.routes for line in _described(route)]})

    application = Starlette(
        routes=[Route("/", index, methods=["GET"]), *routes],
        exception_handlers={Refused: _refuse, HTTPException: _no_such},
    )
    return application


def _described(route: object) -> list[dict[str, str]]:
    if not isinstance(route, Route):
        return []
    does = " ".join((route.endpoint.__doc__ or "").split())
    methods = sorted((route.methods or set()) - {"HEAD"})
    return [{"method": method, "path": route.path, "does": does} for method in methods]


async def _refuse(_request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, Refused) else 500
    return answer({"error": str(error)}, status)


async def _no_such(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = HTTPStatus(status).phrase
    return answer({"error": f"{request.method} {request.url.path}: {reason}; GET / lists what there is"}, status)
