"""Faults of the answer to an update: what is said is not what happens."""

from collections.abc import Mapping
from typing import Any

from emulator.machine.tasks import Task
from emulator.redfish.errors import RedfishError, message
from emulator.redfish.http import Request, Response

_INTERNAL_HOST = "https://bmc.internal.example"
_WAYS: Mapping[str, str] = {"simple": "SimpleUpdate", "multipart": "multipart", "push": "push"}


def instead(request: Request) -> Response | None:
    """The answer to an update that is not begun although all is well with it; None: it is begun."""
    faults = request.machine.board.faults
    refused = faults.peek("update-method-refused")
    if refused and refused["method"] in ("", method_of(request)):
        faults.take("update-method-refused")
        text = str(refused["text"])
        raise RedfishError(int(refused["status"]), "ActionNotSupported", text, method_of(request))
    if faults.take("push-answers-200-with-error"):
        wrong = message("InternalError", "The request failed due to an internal error.", severity="Critical")
        fine = message("Success", "The request completed successfully.")
        return Response(200, {"@Message.ExtendedInfo": [fine], "error": {"@Message.ExtendedInfo": [wrong]}})
    return None


def method_of(request: Request) -> str:
    """SimpleUpdate, multipart or push."""
    if "Actions" in request.path:
        return _WAYS["simple"]
    return _WAYS["multipart" if request.path == request.machine.board.persona.update.multipart_uri else "push"]


def placed(request: Request, task: Task, response: Response, *, task_path: str, body: dict[str, Any]) -> Response:
    """The 202 for a new task with its task where the faults put it; `body` is the task's document."""
    faults = request.machine.board.faults
    if faults.take("update-names-no-task"):
        request.machine.tasks.hide(task)
        return Response(200, {"@Message.ExtendedInfo": [message("Success", "The request completed successfully.")]})
    if faults.take("post-answers-303"):
        return Response(303, headers={"Location": task_path})
    fault = faults.take("task-location")
    where = str(fault["where"]) if fault else ""
    location = response.headers.get("Location", "")
    said = message("Accepted", f"The update was accepted; see {task_path}.", task_path)
    shapes = {
        "header": Response(202, headers={"Location": location}),
        "body": Response(202, body),
        "message": Response(202, {"Accepted": {"@Message.ExtendedInfo": [said]}}),
        "none": Response(202),
    }
    if where in shapes:
        return shapes[where]
    host = request.headers.get("host", request.machine.board.entry.address)
    moved = {
        "absolute": f"https://{host}{location}",
        "relative": location.removeprefix("/redfish/v1/"),
        "internal-host": f"{_INTERNAL_HOST}{location}",
    }
    response.headers["Location"] = moved.get(where, location)
    return response
