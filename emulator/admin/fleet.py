"""The fleet as a whole: what is in it, what the rack plan says of it, and faults that many BMCs have at once."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.admin.answers import Refused, answer, body_of
from emulator.config import FaultRate, FleetConfig
from emulator.fault_rates import hit
from emulator.faults.inventory import FLEET_FAULTS
from emulator.faults.listing import by_concern, described
from emulator.fleet import expected_nodes
from emulator.machine.machine import Machine


class Fleet:
    """All machines, by name; `planned` is the fleet before anything was put into a wrong slot."""

    def __init__(self, machines: Mapping[str, Machine], planned: FleetConfig) -> None:
        """Nothing happens to them before someone asks."""
        self._machines = machines
        self._planned = planned

    def routes(self) -> list[Route]:
        """What there is."""
        return [
            Route("/faults", self.list_faults, methods=["GET"]),
            Route("/fleet", self.show, methods=["GET"]),
            Route("/fleet/expected", self.list_expected, methods=["GET"]),
            Route("/fleet/faults/{fault}", self.set_fault, methods=["PUT"]),
            Route("/fleet/faults/{fault}", self.clear_fault, methods=["DELETE"]),
        ]

    async def list_faults(self, _request: Request) -> Response:
        """The faults that there are, with their arguments and where each was seen."""
        return answer([described(concern, fault) for concern, fault in by_concern()])

    async def show(self, _request: Request) -> Response:
        """How many BMCs there are, of which persona, in which phase, with which faults."""
        machines = self._machines.values()
        return answer(
            {
                "bmcs": len(machines),
                "answering": sum(machine.bmc_answers for machine in machines),
                "personas": Counter(machine.board.persona.name for machine in machines),
                "phases": Counter(machine.host.phase for machine in machines),
                "faults": Counter(name for machine in machines for name in machine.board.faults.listing()),
                "wrong_slots": sum(bool(machine.board.entry.meant_for) for machine in machines),
                "requests": sum(machine.requests.total() for machine in machines),
            }
        )

    async def list_expected(self, _request: Request) -> Response:
        """What the rack plan and the labels say, as in expected.yaml."""
        return answer({"nodes": expected_nodes(self._planned.bmcs, self._planned.port)})

    async def set_fault(self, request: Request) -> Response:
        """Make a fault happen at {"share": 0.02} of the BMCs or at {"names": [...]}, with {"arguments": {...}}."""
        fault = request.path_params["fault"]
        body = await body_of(request)
        names = self._chosen(fault, body)
        for name in names:
            self._machines[name].set_fault(fault, body.get("arguments") or {})
        return answer({"fault": fault, "names": names})

    async def clear_fault(self, request: Request) -> Response:
        """Heal a fault everywhere."""
        fault = request.path_params["fault"]
        names = [name for name, machine in self._machines.items() if fault in machine.board.faults.listing()]
        for name in names:
            self._machines[name].clear_fault(fault)
        return answer({"fault": fault, "names": names})

    def _chosen(self, fault: str, body: dict[str, Any]) -> list[str]:
        if fault in {one.name for one in FLEET_FAULTS}:
            raise Refused(409, f"{fault}: machines stay where they are while they run; use fault_rates in fleet.yaml")
        if ("share" in body) == ("names" in body) or not body.keys() <= {"share", "names", "arguments"}:
            raise Refused(400, 'give {"share": 0 to 1} or {"names": [...]}, and "arguments" when the fault has any')
        try:
            rate = FaultRate(fault=fault, share=body.get("share", 0), arguments=body.get("arguments") or {})
        except ValidationError as error:
            problem = error.errors()[0]
            reason = problem.get("ctx", {}).get("error", problem["msg"])
            raise Refused(400, f"{'.'.join(map(str, problem['loc'])) or fault}: {reason}") from error
        names = hit(self._machines, rate, self._planned.seed) if "share" in body else _names(body["names"])
        unknown = names - self._machines.keys()
        if unknown:
            raise Refused(404, f"no BMC is named {min(unknown)}; GET /bmcs?fields=name lists them")
        return sorted(names)


def _names(given: Any) -> set[str]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise Refused(400, "names: give a list of names of BMCs")
    return set(given)
