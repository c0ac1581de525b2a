"""Configuration jobs: how an iDRAC is told to apply what is pending in the BIOS settings."""

from emulator.redfish.bios import settings_path
from emulator.redfish.errors import RedfishError, not_found, not_in_list
from emulator.redfish.http import Request, Response
from emulator.redfish.task_service import accepted


async def create_job(request: Request) -> Response:
    """POST of TargetSettingsURI to the job queue: what is pending waits for the next reset, and for no more values."""
    machine = request.machine
    persona = machine.board.persona
    if not persona.tasks.dell_jobs or request.parameters[0] != persona.bmc.id:
        raise not_found(request.path)
    body = request.json(("TargetSettingsURI", "StartTime", "EndTime", "RebootJobType"))
    target = request.text(body, "TargetSettingsURI")
    if target.rstrip("/").lower() != str(settings_path(machine)).lower():
        raise not_in_list(target, "TargetSettingsURI")
    if machine.bios.job:
        raise RedfishError(400, "IDRAC.2.8.RAC0679", "A configuration job for the BIOS exists already.")
    if not machine.bios.pending:
        raise RedfishError(400, "IDRAC.2.8.SYS425", "There are no pending values for which a job could be made.")
    return accepted(request, machine.bios.schedule())
