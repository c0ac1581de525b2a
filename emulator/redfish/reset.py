"""The Reset actions of the system and of the manager, and the OEM verbs that cut power."""

import time
from collections.abc import Callable, Mapping

from emulator.machine.host import Host
from emulator.machine.machine import Machine
from emulator.persona.hardware import Cycle
from emulator.redfish.errors import RedfishError, action_value, not_found
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.power_cuts import are_missing
from emulator.redfish.router import Route
from emulator.tree.document import ROOT

_LACKS = {"graceful-restart-not-offered": "GracefulRestart", "power-cycle-not-offered": "PowerCycle"}
_OEM = ("FinalPowerState",)  # what DellOemChassis.ExtendedReset takes beside ResetType


def _push_button(host: Host) -> None:
    if host.power == "On":
        host.shut_down()
    else:
        host.turn_on()


_WHILE_ON: Mapping[str, Callable[[Host], None]] = {
    "ForceOff": Host.turn_off,
    "GracefulShutdown": Host.shut_down,
    "ForceRestart": Host.restart,
    "GracefulRestart": Host.restart_gracefully,
    "PowerCycle": Host.cycle,
    "Nmi": Host.interrupt,
    "PushPowerButton": _push_button,
}
_WHILE_OFF: Mapping[str, Callable[[Host], None]] = {
    "On": Host.turn_on,
    "ForceOn": Host.turn_on,
    "ForceRestart": Host.turn_on,
    "PowerCycle": Host.turn_on,
    "PushPowerButton": _push_button,
}
_NEEDS_POWER = ("GracefulRestart", "Nmi")
_CONFLICTS = {True: ("ForceRestart", "ForceOff", "GracefulShutdown"), False: ("On", "ForceOn")}  # by whether it is off
_UNUSED = ("Suspend", "Pause", "Resume")


async def reset_system(request: Request) -> Response:
    """ComputerSystem.Reset; On while on and ForceOff while off change nothing, ForceRestart while off turns on."""
    machine = request.machine
    persona = machine.board.persona
    if request.parameters[0] != persona.system.id:
        raise not_found(request.path)
    reset_type = _reset_type(request, offered(machine), "ComputerSystem.Reset")
    off = machine.host.phase in ("off", "powering-off")
    if (off and reset_type in _NEEDS_POWER) or reset_type in _UNUSED:
        text = f"The action ComputerSystem.Reset with {reset_type} cannot be done while the system is off."
        raise RedfishError(409, "ResourceInStandby", text)
    _check_conflict(machine, reset_type, off=off)
    if machine.board.faults.take("reset-ignored"):
        return no_content()
    machine.host.asked_at, machine.host.power_before = time.monotonic(), machine.host.power
    if reset_type == "FullPowerCycle":
        machine.cut_power("ac")
        return no_content()
    act = (_WHILE_OFF if off else _WHILE_ON).get(reset_type)
    if act:
        act(machine.host)
    return no_content()


async def reset_manager(request: Request) -> Response:
    """Manager.Reset: the answer is sent, then the BMC goes away."""
    persona = request.machine.board.persona
    if request.parameters[0] != persona.bmc.id:
        raise not_found(request.path)
    _reset_type(request, persona.bmc.reset_types, "Manager.Reset")
    request.machine.reset_bmc_soon()
    return no_content()


async def cut_power(request: Request) -> Response:
    """An OEM verb: the answer is sent, then power goes away and comes back."""
    persona = request.machine.board.persona
    offers = [] if are_missing(request.machine) else persona.cycles
    verbs = [cycle for cycle in offers if cycle.target.rstrip("/").lower() == request.path.lower()]
    if not verbs:
        raise not_found(request.path)
    parameter = verbs[0].parameter
    wanted = request.text(request.json((parameter, *_OEM)), parameter)
    cycle = next((verb for verb in verbs if verb.value == wanted), None)
    if cycle is None:
        raise action_value(wanted, parameter, verbs[0].action)
    _check_off(request.machine, cycle)
    request.machine.cut_power(cycle.kind, keeps_bmc=cycle.keeps_bmc)
    return no_content()


def offered(machine: Machine) -> tuple[str, ...]:
    """The reset types that the host's document lists."""
    types = machine.board.persona.system.reset_types
    lacks = lacking(machine)
    return tuple(one for one in types if one not in lacks) if lacks else types


def lacking(machine: Machine) -> set[str]:
    """The reset types that a fault takes away."""
    return {reset_type for fault, reset_type in _LACKS.items() if machine.board.faults.peek(fault)}


def _check_conflict(machine: Machine, reset_type: str, *, off: bool) -> None:
    """Refuse what the power state makes pointless, where the BMC does so."""
    if reset_type in _CONFLICTS[off]:
        fault = machine.board.faults.take("power-state-conflict")
        if fault:
            text = f"The host is powered {'OFF' if off else 'ON'} already."
            raise RedfishError(int(fault["status"]), "ActionNotSupported", text, reset_type)


def _check_off(machine: Machine, cycle: Cycle) -> None:
    if cycle.needs_off and machine.host.power != "Off":
        text = f"The action {cycle.action} cannot be done while the system is on; power it off first."
        raise RedfishError(409, "ResourceInUse", text)


def _reset_type(request: Request, allowed: tuple[str, ...], action: str) -> str:
    body = request.json(("ResetType",))
    wanted = body.get("ResetType", allowed[0]) if action == "Manager.Reset" else request.text(body, "ResetType")
    if wanted not in allowed:
        raise action_value(wanted, "ResetType", action)
    return str(wanted)


_OWNERS = ("Systems", "Chassis", "Managers")
ROUTES = (
    *(
        Route(f"{ROOT}/{owner}/{{}}/Actions/Oem/{rest}", post=cut_power)
        for owner in _OWNERS
        for rest in ("{}", "{}/{}")
    ),
    Route(f"{ROOT}/Chassis/{{}}/Actions/Chassis.Reset", post=cut_power),
)
