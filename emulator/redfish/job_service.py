"""Jobs: the same operations as the tasks, in DMTF's form at the JobService and in Dell's form at the iDRAC."""

from collections.abc import Mapping
from typing import Any

from emulator.machine.machine import Machine
from emulator.machine.tasks import Task
from emulator.redfish.bios_jobs import create_job
from emulator.redfish.errors import RedfishError, missing, not_found
from emulator.redfish.http import Request, Response, collection, no_content, ok
from emulator.redfish.router import Route
from emulator.redfish.task_document import note_document, time_text

JOBS = "/redfish/v1/JobService/Jobs"
_ALL = ("JID_CLEARALL", "JID_CLEARALL_FORCE")
_STATES: Mapping[str, str] = {"Killed": "Cancelled", "Cancelling": "Stopping"}
_DELL_STATES: Mapping[str, str] = {
    "New": "New",
    "Running": "Running",
    "Pending": "Scheduled",
    "Completed": "Completed",
    "Exception": "Failed",
    "Cancelled": "Failed",
}
_SAYS: Mapping[str, tuple[str, str]] = {
    "New": ("JCP000", "New"),
    "Downloading": ("RED002", "Package is being downloaded."),
    "Running": ("PR20", "Job in progress."),
    "Scheduled": ("JCP001", "Task successfully scheduled."),
    "RebootPending": ("JCP001", "Task successfully scheduled; the system is being restarted."),
    "Completed": ("PR19", "Job completed successfully."),
}


async def get_jobs(request: Request) -> Response:
    """The collection, at either place."""
    _refuse_elsewhere(request)
    kind = "JobCollection" if request.path == JOBS else "DellJobCollection"
    members = [task.id for task in request.machine.tasks.listing()]
    return collection(kind, request.path, "Job Queue" if kind.startswith("Dell") else "Jobs Collection", members)


async def get_job(request: Request) -> Response:
    """One job, at either place."""
    _refuse_elsewhere(request)
    task = _find(request, request.parameters[-1])
    if request.path.startswith(JOBS):
        return ok("Job.v1_1_0.Job", request.path, _dmtf(task))
    return ok("DellJob.v1_4_0.DellJob", request.path, _dell(task))


async def delete_job(request: Request) -> Response:
    """One that waits is dropped, one that has ended is removed; one that runs stays."""
    _refuse_elsewhere(request)
    _delete(request.machine, _find(request, request.parameters[-1]))
    return no_content()


async def delete_queue(request: Request) -> Response:
    """DellJobService.DeleteJobQueue: one job, or all that do not run."""
    if not request.machine.board.persona.tasks.dell_jobs:
        raise not_found(request.path)
    body = request.json(("JobID",))
    if "JobID" not in body:
        raise missing("JobID")
    wanted = str(body["JobID"])
    if wanted not in _ALL:
        _delete(request.machine, _find(request, wanted))
        return no_content()
    for task in request.machine.tasks.listing():
        if task.ended or task.cancel:
            _delete(request.machine, task)
    return no_content()


def _delete(machine: Machine, task: Task) -> None:
    if not task.ended and (task.cancel is None or not task.cancel()):
        raise RedfishError(409, "ResourceInUse", f"The job {task.id} runs and cannot be deleted.")
    machine.tasks.forget(task)


def _dell(task: Task) -> dict[str, Any]:
    state = _dell_state(task)
    key, text = _SAYS.get(state, ("RED014", task.messages[-1].text if task.messages else "Job failed."))
    ended = time_text(task.ended_at) if task.ended_at else None
    own = "Critical" if task.status == "Critical" and task.messages else ""
    return {
        "Id": task.id,
        "Name": task.name,
        "Description": "Job Instance",
        "JobState": state,
        "JobType": task.job_type,
        "Message": task.messages[-1].text if own else text,
        "MessageArgs": [],
        "MessageArgs@odata.count": 0,
        "MessageId": task.messages[-1].message_id if own else key,
        "PercentComplete": task.percent,
        "StartTime": time_text(task.started_at),
        "EndTime": ended or "TIME_NA",
        "CompletionTime": ended,
        "TargetSettingsURI": None,
    }


def _dell_state(task: Task) -> str:
    if task.state == "Completed" and task.status != "OK":
        return "CompletedWithErrors"
    known = _DELL_STATES.get(task.state, "Running")
    return known if task.ended else task.job_state or known


def _dmtf(task: Task) -> dict[str, Any]:
    document = {
        "Id": task.id,
        "Name": task.name,
        "JobState": _STATES.get(task.state, task.state),
        "JobStatus": task.status,
        "PercentComplete": task.percent,
        "StartTime": time_text(task.started_at),
        "Messages": [note_document(note) for note in task.messages],
    }
    return {**document, "EndTime": time_text(task.ended_at)} if task.ended_at else document


def _find(request: Request, job_id: str) -> Task:
    task = request.machine.tasks.find(job_id)
    if task is None or task.parent:
        raise not_found(request.path)
    return task


def _refuse_elsewhere(request: Request) -> None:
    """Only where the persona has jobs."""
    persona = request.machine.board.persona
    if request.path.startswith(JOBS):
        there = persona.tasks.job_service
    else:
        there = persona.tasks.dell_jobs and request.parameters[0] == persona.bmc.id
    if not there:
        raise not_found(request.path)


_DELL = "/redfish/v1/Managers/{}/Oem/Dell"

ROUTES = (
    Route(JOBS, get=get_jobs),
    Route(f"{JOBS}/{{}}", get=get_job, delete=delete_job),
    Route(f"{_DELL}/Jobs", get=get_jobs, post=create_job),
    Route(f"{_DELL}/Jobs/{{}}", get=get_job, delete=delete_job),
    Route(f"{_DELL}/DellJobService/Actions/DellJobService.DeleteJobQueue", post=delete_queue),
)
