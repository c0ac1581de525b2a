"""TaskService: tasks and their monitors."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from emulator.machine.machine import Machine
from emulator.machine.tasks import Task
from emulator.redfish.errors import RedfishError, message, not_found
from emulator.redfish.http import Request, Response, collection, no_content
from emulator.redfish.router import Route
from emulator.redfish.task_document import monitor_path, note_document, task_document, task_path, time_text
from emulator.redfish.update_answers import placed
from emulator.tree.document import Document
from emulator.tree.places import TASK_SERVICE, TASKS

_RETRY: Mapping[str, str] = {"Retry-After": "1"}


def measure(_machine: Machine, document: Document) -> None:
    """The clock."""
    document["DateTime"] = time_text(dt.datetime.now(dt.UTC).timestamp())


async def get_tasks(request: Request) -> Response:
    """The tasks since the BMC started."""
    return collection("TaskCollection", TASKS, "Task Collection", [task.id for task in request.machine.tasks.listing()])


async def get_task(request: Request) -> Response:
    """One task; while it runs it is looked at."""
    task = _polled(request)
    response = Response(200, task_document(request.machine, task))
    if not task.ended and request.machine.board.faults.peek("task-get-202"):
        response.status = 202
        response.headers = {"Location": monitor_path(request.machine.board.persona, task), **_RETRY}
    return response


async def delete_task(request: Request) -> Response:
    """DELETE of one that has ended removes it, of another one cancels it (DSP0266, asynchronous operations)."""
    task = _find(request, request.parameters[-1])
    if not task.ended and (task.cancel is None or not task.cancel()):
        text = f"The task {task.id} cannot be cancelled: its device is being written."
        raise RedfishError(409, "ResourceInUse", text)
    request.machine.tasks.forget(task)
    return no_content()


async def get_parts(request: Request) -> Response:
    """The tasks that one is made of."""
    task = _find(request, request.parameters[0])
    members = [part.id for part in request.machine.tasks.listing(task.id)]
    if not members:
        raise not_found(request.path)
    return collection("TaskCollection", f"{task_path(task)}/SubTasks", "Sub Tasks", members)


async def get_part(request: Request) -> Response:
    """One of them."""
    part = _find(request, request.parameters[1])
    if part.parent != request.parameters[0]:
        raise not_found(request.path)
    return Response(200, task_document(request.machine, part))


async def get_monitor(request: Request) -> Response:
    """202 while the task runs, then what the request would have been answered (DSP0266, task monitors)."""
    if request.machine.board.faults.peek("monitor-missing"):
        raise not_found(request.path)
    task = _polled(request)
    if task.ended and (task.state != "Completed" or task.status == "Critical"):
        raise _failure(task)
    response = Response(200, task.result if task.result is not None else task_document(request.machine, task))
    if not task.ended:
        response = replace(response, document=task_document(request.machine, task), status=202)
        response.headers = {"Location": monitor_path(request.machine.board.persona, task), **_RETRY}
    return response


async def delete_all(request: Request) -> Response:
    """DeleteAllCompletedTasks."""
    for task in [one for one in request.machine.tasks.listing() if one.ended]:
        request.machine.tasks.forget(task)
    return no_content()


def accepted(request: Request, task: Task) -> Response:
    """202 for an operation that `task` does, with the body that the persona sends."""
    persona = request.machine.board.persona
    document = task_document(request.machine, task)
    response = Response(202, headers={"Location": monitor_path(persona, task), **_RETRY})
    if persona.tasks.body == "task":
        response.document = document
    elif persona.tasks.body == "message":
        text = f"The update was accepted; see {TASKS}/{task.id}."
        said = message("Accepted", text, task_path(task))
        response.document = {"Accepted": {"@Message.ExtendedInfo": [said]}}
    return placed(request, task, response, task_path=task_path(task), body=document)


def _failure(task: Task) -> RedfishError:
    last = task.messages[-1]
    error = RedfishError(400, last.message_id, last.text, *last.arguments)
    error.extended = [note_document(note) for note in task.messages if note.severity != "OK"] or [note_document(last)]
    return error


def _polled(request: Request) -> Task:
    task = _find(request, request.parameters[0])
    task.polls += 1
    fault = request.machine.board.faults.peek("task-vanishes")
    if fault and fault["when"] == "poll" and task.polls > int(fault["polls"]):
        request.machine.board.faults.take("task-vanishes")
        request.machine.tasks.hide(task)
        raise not_found(request.path)
    return task


def _find(request: Request, task_id: str) -> Task:
    task = request.machine.tasks.find(task_id)
    if task is None:
        raise not_found(request.path)
    return task


ROUTES = (
    Route(TASKS, get=get_tasks),
    Route(f"{TASKS}/{{}}", get=get_task, delete=delete_task),
    Route(f"{TASKS}/{{}}/SubTasks", get=get_parts),
    Route(f"{TASKS}/{{}}/SubTasks/{{}}", get=get_part),
    Route(f"{TASKS}/{{}}/Monitor", get=get_monitor, delete=delete_task),
    Route(f"{TASK_SERVICE}/TaskMonitors/{{}}", get=get_monitor, delete=delete_task),
    Route(f"{TASK_SERVICE}/Actions/TaskService.DeleteAllCompletedTasks", post=delete_all),
    Route("/redfish/v1/TaskMonitor/{}", get=get_monitor, delete=delete_task),
)
