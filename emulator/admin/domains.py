"""What machines share: racks, pairs of power feeds, single feeds, NVLink. What happens to it happens to all of them."""

from collections.abc import Callable, Iterator, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.admin.answers import Refused, answer
from emulator.machine.machine import Machine
from emulator.machine.power_feeds import FEEDS

_ACTIONS: Mapping[str, Callable[[Machine], None]] = {
    "power-loss": Machine.lose_power,
    "power-restore": Machine.restore_power,
}
_FEED_ACTIONS: Mapping[str, Callable[[Machine, str], None]] = {
    "power-loss": Machine.lose_feed,
    "power-restore": Machine.restore_feed,
}


class Domains:
    """By kind (rack, power, feed, nvlink) and name, the machines of each domain."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        """The fleet file says which they are."""
        self._members: dict[str, dict[str, list[Machine]]] = {"rack": {}, "power": {}, "feed": {}, "nvlink": {}}
        for machine in machines.values():
            for kind, name in _domains_of(machine):
                self._members[kind].setdefault(name, []).append(machine)

    def routes(self) -> list[Route]:
        """What there is."""
        return [
            Route("/domains", self.show_all, methods=["GET"]),
            Route("/domains/{kind}/{name}", self.show, methods=["GET"]),
            Route("/domains/{kind}/{name}/actions/{action}", self.act, methods=["POST"]),
        ]

    async def show_all(self, _request: Request) -> Response:
        """The domains of each kind, and how many machines are in each."""
        counts = {
            kind: {name: len(members) for name, members in domains.items()} for kind, domains in self._members.items()
        }
        return answer(counts)

    async def show(self, request: Request) -> Response:
        """The machines of a domain, and whether each has power."""
        return answer(self._shown(request))

    async def act(self, request: Request) -> Response:
        """power-loss or power-restore for all its machines; one feed lost leaves them the other one."""
        kind, action = request.path_params["kind"], request.path_params["action"]
        members = self._find(request)
        if action not in _ACTIONS:
            raise Refused(404, f"known actions: {', '.join(_ACTIONS)}")
        for machine in members:
            if kind == "feed":
                _FEED_ACTIONS[action](machine, request.path_params["name"][-1])
            elif machine.has_power == (action == "power-loss"):
                _ACTIONS[action](machine)
        return answer(self._shown(request))

    def _shown(self, request: Request) -> dict[str, object]:
        members = self._find(request)
        return {
            "kind": request.path_params["kind"],
            "name": request.path_params["name"],
            "members": {machine.board.entry.name: machine.has_power for machine in members},
        }

    def _find(self, request: Request) -> list[Machine]:
        kind, name = request.path_params["kind"], request.path_params["name"]
        if kind not in self._members:
            raise Refused(404, f"known kinds of domains: {', '.join(self._members)}")
        if name not in self._members[kind]:
            raise Refused(404, f"no {kind} domain is named {name}; GET /domains lists them")
        return self._members[kind][name]


def _domains_of(machine: Machine) -> Iterator[tuple[str, str]]:
    entry = machine.board.entry
    named = {"rack": entry.rack, "power": entry.power_domain, "nvlink": entry.nvlink_domain}
    yield from ((kind, name) for kind, name in named.items() if name)
    if entry.power_domain:
        yield from (("feed", f"{entry.power_domain}-{feed}") for feed in sorted(FEEDS))
