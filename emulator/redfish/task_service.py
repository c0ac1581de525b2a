"""TaskService: tasks and their monitors."""

import datetime as dt
from typing import Any

from emulator.machine.machine import Machine
from emulator.machine.tasks import FINISHED, Task
from emulator.persona.persona import Persona
from emulator.redfish.errors import RedfishError, message, not_found
from emulator.redfish.http import Request, Response, collection, ok
from emulator.redfish.router import Route
from emulator.tree.document import Document

SERVICE = "/redfish/v1/TaskService"
TASKS = f"{SERVICE}/Tasks"
_TASK = "Task.v1_4_3.Task"


def measure(_machine: Machine, document: Document) -> None:
    """The clock."""
    document["DateTime"] = _time(dt.datetime.now(dt.UTC).timestamp())


async def get_tasks(request: Request) -> Response:
    """The tasks since the BMC started."""
    return collection("TaskCollection", TASKS, "Task Collection", [task.id for task in request.machine.tasks.listing()])


async def get_task(request: Request) -> Response:
    """One task."""
    task = _find(request)
    return ok(_TASK, f"{TASKS}/{task.id}", task_document(request.machine.board.persona, task))


async def get_monitor(request: Request) -> Response:
    """202 while the task runs, then its outcome (DSP0266, task monitors)."""
    task = _find(request)
    if task.state == "Exception":
        raise RedfishError(400, "OperationFailed", task.messages[-1])
    response = await get_task(request)
    if task.state not in FINISHED:
        response.status = 202
        response.headers = {"Location": monitor_path(request.machine.board.persona, task), "Retry-After": "1"}
    return response


def accepted(request: Request, task: Task) -> Response:
    """202 for an operation that `task` does, with the body that the persona sends."""
    persona = request.machine.board.persona
    headers = {"Location": monitor_path(persona, task)}
    if persona.tasks.body == "empty":
        return Response(202, headers=headers)
    if persona.tasks.body == "task":
        document = {"@odata.type": f"#{_TASK}", "@odata.id": f"{TASKS}/{task.id}", **task_document(persona, task)}
        return Response(202, document, headers)
    text = f"The update was accepted; see {TASKS}/{task.id}."
    return Response(
        202, {"Accepted": {"@Message.ExtendedInfo": [message("Accepted", text, f"{TASKS}/{task.id}")]}}, headers
    )


def monitor_path(persona: Persona, task: Task) -> str:
    """Where the monitor of a task is."""
    return persona.tasks.monitor.replace("{id}", task.id)


def task_document(persona: Persona, task: Task) -> dict[str, Any]:
    """The properties of a Task."""
    failed = task.state == "Exception"
    kind, severity = ("OperationFailed", "Critical") if failed else ("Success", "OK")
    document = {
        "Id": task.id,
        "Name": task.name,
        "TaskState": task.state,
        "TaskStatus": "Critical" if failed else "OK",
        "PercentComplete": task.percent,
        "StartTime": _time(task.started_at),
        "Messages": [message(kind, text, severity=severity) for text in task.messages],
        "TaskMonitor": monitor_path(persona, task),
        **_payload(task),
    }
    return {**document, "EndTime": _time(task.ended_at)} if task.ended_at else document


def _payload(task: Task) -> dict[str, Any]:
    """What was asked for, as DSP0268 wants it."""
    if not task.request_path:
        return {}
    return {
        "Payload": {
            "HttpOperation": "POST",
            "TargetUri": task.request_path,
            "HttpHeaders": [],
            "JsonBody": task.request_body,
        }
    }


def _find(request: Request) -> Task:
    task = request.machine.tasks.find(request.parameters[0])
    if task is None:
        raise not_found(request.path)
    return task


def _time(timestamp: float) -> str:
    return dt.datetime.fromtimestamp(timestamp, dt.UTC).isoformat(timespec="seconds")


ROUTES = (
    Route(TASKS, get=get_tasks),
    Route(f"{TASKS}/{{}}", get=get_task),
    Route(f"{TASKS}/{{}}/Monitor", get=get_monitor),
    Route(f"{SERVICE}/TaskMonitors/{{}}", get=get_monitor),
    Route("/redfish/v1/TaskMonitor/{}", get=get_monitor),
)
