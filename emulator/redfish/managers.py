"""Managers: what is true of the BMCs now, and their resets."""

from datetime import UTC, datetime, timedelta, timezone

from emulator.machine.machine import Machine
from emulator.redfish.errors import action_value, not_found
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.part_versions import version_of
from emulator.redfish.reset import reset_manager
from emulator.redfish.router import Route
from emulator.tree.document import Document
from emulator.tree.places import MANAGERS


def show(machine: Machine, document: Document) -> None:
    """FirmwareVersion, and when the BMC started."""
    persona = machine.board.persona
    if document["Id"] == persona.bmc.id:
        document["FirmwareVersion"] = machine.board.bmc_version or document.get("FirmwareVersion")
    elif persona.baseboard_bmc and document["Id"] == persona.baseboard_bmc.id:
        document["FirmwareVersion"] = version_of(machine, persona.baseboard_bmc.component, 0) or ""
    if "LastResetTime" in document:
        document["LastResetTime"] = _text(machine.bmc_started_at)


def measure(_machine: Machine, document: Document) -> None:
    """DateTime, in the zone of the BMC."""
    if "DateTime" in document:
        document["DateTime"] = _text(datetime.now(_zone(str(document.get("DateTimeLocalOffset", "")))))


def measure_diagnostics(machine: Machine, document: Document) -> None:
    """How long the BMC has been up."""
    if "ServiceRootUptimeSeconds" in document:
        document["ServiceRootUptimeSeconds"] = round((datetime.now(UTC) - machine.bmc_started_at).total_seconds(), 1)


async def reset(request: Request) -> Response:
    """Manager.Reset: of the host's BMC, or of the baseboard's, which takes nothing else away."""
    second = request.machine.board.persona.baseboard_bmc
    if second is None or request.parameters[0] != second.id:
        return await reset_manager(request)
    wanted = request.json(("ResetType",)).get("ResetType", second.reset_types[0])
    if wanted not in second.reset_types:
        raise action_value(wanted, "ResetType", "Manager.Reset")
    return no_content()


async def reset_to_defaults(request: Request) -> Response:
    """Manager.ResetToDefaults: what clients wrote is forgotten, then the BMC restarts."""
    machine = request.machine
    bmc = machine.board.persona.bmc
    if request.parameters[0] != bmc.id or not bmc.reset_to_defaults:
        raise not_found(request.path)
    wanted = request.text(request.json(("ResetType",)), "ResetType")
    if wanted not in bmc.reset_to_defaults:
        raise action_value(wanted, "ResetType", "Manager.ResetToDefaults")
    machine.board.state.written.clear()
    machine.board.save()
    machine.reset_bmc_soon()
    return no_content()


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _zone(offset: str) -> timezone:
    """The zone of `+02:00`; UTC for what is none."""
    try:
        hours, minutes = offset[1:].split(":")
        length = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-length if offset[0] == "-" else length)
    except (ValueError, IndexError):
        return UTC


ROUTES = (
    Route(f"{MANAGERS}/{{}}/Actions/Manager.Reset", post=reset),
    Route(f"{MANAGERS}/{{}}/Actions/Manager.ResetToDefaults", post=reset_to_defaults),
)
