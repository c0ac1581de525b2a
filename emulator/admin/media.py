"""Hands that put an image into a drive of a host, and take it out."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.admin.answers import Refused, answer, body_of, machine_of
from emulator.machine.machine import Machine
from emulator.machine.virtual_media import MediaError


class Media:
    """The drives of all machines, by name."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        """Nothing happens to them before someone asks."""
        self._machines = machines

    def routes(self) -> list[Route]:
        """What there is."""
        return [
            Route("/bmcs/{name}/media/{drive}", self.insert, methods=["PUT"]),
            Route("/bmcs/{name}/media/{drive}", self.eject, methods=["DELETE"]),
        ]

    async def insert(self, request: Request) -> Response:
        """Put the image at the address `image` of the body into a drive."""
        machine = machine_of(request, self._machines)
        image = (await body_of(request)).get("image")
        if not isinstance(image, str):
            raise Refused(400, 'the body is {"image": "http://..."}')
        try:
            machine.media.insert(request.path_params["drive"], image)
        except MediaError as error:
            raise Refused(400, str(error)) from error
        return answer(machine.truth())

    async def eject(self, request: Request) -> Response:
        """Take the image out of a drive."""
        machine = machine_of(request, self._machines)
        try:
            machine.media.eject(request.path_params["drive"])
        except MediaError as error:
            raise Refused(400, str(error)) from error
        return answer(machine.truth())
