"""The Reset actions of the system and of the manager."""

from collections.abc import Callable, Mapping

from emulator.machine.host import Host
from emulator.redfish.errors import RedfishError, action_value, not_found
from emulator.redfish.http import Request, Response, no_content


def _push_button(host: Host) -> None:
    if host.power == "On":
        host.turn_off()
    else:
        host.turn_on()


_WHILE_ON: Mapping[str, Callable[[Host], None]] = {
    "ForceOff": Host.turn_off,
    "GracefulShutdown": Host.turn_off,
    "ForceRestart": Host.restart,
    "GracefulRestart": Host.restart,
    "PowerCycle": Host.cycle,
    "FullPowerCycle": Host.cycle,
    "PushPowerButton": _push_button,
}
_WHILE_OFF: Mapping[str, Callable[[Host], None]] = {
    "On": Host.turn_on,
    "ForceOn": Host.turn_on,
    "PowerCycle": Host.turn_on,
    "FullPowerCycle": Host.turn_on,
    "PushPowerButton": _push_button,
}
_NEEDS_POWER = ("ForceRestart", "GracefulRestart", "Nmi")


async def reset_system(request: Request) -> Response:
    """ComputerSystem.Reset; On while on and ForceOff while off change nothing, a restart while off is refused."""
    persona = request.machine.board.persona
    if request.parameters[0] != persona.system.id:
        raise not_found(request.path)
    reset_type = _reset_type(request, persona.system.reset_types, "ComputerSystem.Reset")
    host = request.machine.host
    off = host.phase in ("off", "powering-off")
    if off and reset_type in _NEEDS_POWER:
        text = f"The action ComputerSystem.Reset with {reset_type} cannot be done while the system is off."
        raise RedfishError(409, "ResourceInStandby", text)
    act = (_WHILE_OFF if off else _WHILE_ON).get(reset_type)
    if act:
        act(host)
    return no_content()


async def reset_manager(request: Request) -> Response:
    """Manager.Reset: the answer is sent, then the BMC goes away."""
    persona = request.machine.board.persona
    if request.parameters[0] != persona.bmc.id:
        raise not_found(request.path)
    _reset_type(request, persona.bmc.reset_types, "Manager.Reset")
    request.machine.reset_bmc_soon()
    return no_content()


def _reset_type(request: Request, allowed: tuple[str, ...], action: str) -> str:
    body = request.json(("ResetType",))
    wanted = body.get("ResetType", allowed[0]) if action == "Manager.Reset" else request.text(body, "ResetType")
    if wanted not in allowed:
        raise action_value(wanted, "ResetType", action)
    return str(wanted)
