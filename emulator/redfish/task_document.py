"""A task and its messages as documents."""

import datetime as dt
from typing import Any

from emulator.machine.machine import Machine
from emulator.machine.task_notes import Note
from emulator.machine.tasks import Task
from emulator.persona.persona import Persona
from emulator.redfish.errors import message
from emulator.tree.document import link
from emulator.tree.places import TASKS


def task_path(task: Task) -> str:
    """Where a task is."""
    return f"{TASKS}/{task.parent}/SubTasks/{task.id}" if task.parent else f"{TASKS}/{task.id}"


def monitor_path(persona: Persona, task: Task) -> str:
    """Where the monitor of a task is."""
    return persona.tasks.monitor.replace("{id}", task.id)


def task_document(machine: Machine, task: Task) -> dict[str, Any]:
    """The whole resource."""
    parts = machine.tasks.listing(task.id)
    kind = "Task.v1_5_0.Task" if parts or task.parent else "Task.v1_4_3.Task"
    document = {
        "@odata.type": f"#{kind}",
        "@odata.id": task_path(task),
        "Id": task.id,
        "Name": task.name,
        "TaskState": task.state,
        "TaskStatus": task.status,
        "PercentComplete": task.percent,
        "StartTime": time_text(task.started_at),
        "Messages": [note_document(note) for note in task.messages],
        **payload(machine.board.persona, task),
    }
    if not task.parent:
        document["TaskMonitor"] = monitor_path(machine.board.persona, task)
    if parts:
        document["SubTasks"] = link(f"{task_path(task)}/SubTasks")
    return {**document, "EndTime": time_text(task.ended_at)} if task.ended_at else document


def note_document(note: Note) -> dict[str, Any]:
    """A message of a task."""
    document = message(note.message_id, note.text, *note.arguments, severity=note.severity)
    if note.severity != "OK":
        document["Resolution"] = "Look at the device, then send the update again."
    return {**document, "RelatedProperties": list(note.related)} if note.related else document


def time_text(timestamp: float) -> str:
    """A moment as Redfish writes it."""
    return dt.datetime.fromtimestamp(timestamp, dt.UTC).isoformat(timespec="seconds")


def payload(persona: Persona, task: Task) -> dict[str, Any]:
    """What was asked for, as DSP0268 wants it."""
    if not task.request_path:
        return {}
    if persona.tasks.hide_payload:
        return {"HidePayload": True}
    return {
        "Payload": {
            "HttpOperation": "POST",
            "TargetUri": task.request_path,
            "HttpHeaders": [],
            "JsonBody": task.request_body,
        }
    }
