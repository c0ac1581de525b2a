"""What a BMC answers instead: in the first minutes after it is back, or while its update service is broken.

Times are emulated seconds since it took connections again; at speed 0, seconds of the wall clock.
"""

from emulator.faults.fault import Arguments
from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response
from emulator.tree.places import FIRMWARE_INVENTORY, UPDATE_SERVICE


def answer(request: Request) -> Response | None:
    """The answer of a BMC that is not ready for this request; None: it is."""
    machine = request.machine
    if _ruined(request):
        return _refusal(503, "ServiceTemporarilyUnavailable", "The service cannot start.")
    if request.path == UPDATE_SERVICE and request.method == "GET" and machine.board.faults.take("update-service-500"):
        return _refusal(500, "InternalError", "The request failed due to an internal service error.")
    late = machine.board.faults.peek("inventory-late")
    if late and request.path.startswith(FIRMWARE_INVENTORY) and machine.outage.within(float(late["seconds"])):
        return _refusal(503, "ServiceTemporarilyUnavailable", "The inventory is being read.")
    profile = machine.board.faults.peek("bmc-outage-profile")
    return _phase(machine, profile) if profile else None


def inventory_share(machine: Machine, members: int) -> int:
    """How many members of the inventory are shown by now."""
    profile = machine.board.faults.peek("bmc-outage-profile")
    if profile and machine.outage.within(_until_login(profile) + float(profile["partial"])):
        return members // 2
    return members


def _phase(machine: Machine, profile: Arguments) -> Response | None:
    if machine.outage.within(float(profile["unavailable"])):
        return _refusal(503, "ServiceTemporarilyUnavailable", "The service is starting.")
    if machine.outage.within(_until_login(profile)):
        return _refusal(401, "NoValidSession", "There is no valid session established with the implementation.")
    return None


def _until_login(profile: Arguments) -> float:
    return float(profile["unavailable"]) + float(profile["login"])


def _ruined(request: Request) -> bool:
    """Whether somebody has reset the BMC while it restarted by itself."""
    faults, machine = request.machine.board.faults, request.machine
    fault = faults.peek("reset-during-self-reboot")
    if not fault:
        return False
    just_back = machine.outage.by_itself and machine.outage.within(float(fault["seconds"]))
    ours = machine.firmware.restarts or just_back
    if ours and request.method == "POST" and request.path.endswith("/Manager.Reset"):
        machine.outage.ruined = True
    return machine.outage.ruined


def _refusal(status: int, message_id: str, text: str) -> Response:
    error = RedfishError(status, message_id, text)
    return Response(status, error.document(), {"Retry-After": "5"} if status == 503 else {})
