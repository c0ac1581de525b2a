"""Tasks and task monitors, as tolerant as BMCs are careless; pure."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import orjson

from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import Task
from provisioner.redfish.answer import Answer
from provisioner.redfish.resources.task import TaskEntry
from provisioner.redfish.snapshot import Document, Snapshot, link

ACCEPTED = 202
RUNNING, COMPLETED = "Running", "Completed"


def started_task(answer: Answer) -> TaskUri | None:
    """Where the answer to a start says that its task is; None when it does not say.

    The Task itself, when it is in the body, is better than the monitor in `Location`: monitors vanish when done.
    """
    body = _body(answer)
    location = urlsplit(answer.headers.get("Location", "")).path
    monitor = body.get("TaskMonitor")
    if "TaskState" in body or "#Task." in str(body.get("@odata.type")):
        found = link(body) or location or monitor
    else:
        found = location or link(body) or monitor
    return TaskUri(found) if isinstance(found, str) and found else None


def task_of(uri: TaskUri, answer: Answer) -> Task:
    """One look at a task or at its monitor, which answers 202 while it runs and then whatever the request answered."""
    body = _body(answer)
    if "TaskState" not in body:
        state = RUNNING if answer.status_code == ACCEPTED else COMPLETED
        return Task(uri=uri, state=state, status="", percent=None, messages=tuple(_messages(body.get("Messages"))))
    return listed(uri, body)


def failed(uri: TaskUri, words: str) -> Task:
    """A task whose monitor answers with an error."""
    return Task(uri=uri, state="Exception", status="Critical", percent=None, messages=(words,))


def listed(uri: TaskUri, document: Document) -> Task:
    """A task as its collection shows it."""
    snapshot = Snapshot()
    snapshot.add(uri, document)
    entry = TaskEntry(snapshot, uri)
    return Task(
        uri=uri,
        state=str(entry.state or ""),
        status=str(entry.status or ""),
        percent=_percent(entry.percent),
        messages=tuple(_messages(entry.messages)),
        targets=_targets(entry.payload),
        name=str(entry.name or ""),
        request=_request(entry.payload),
    )


def _body(answer: Answer) -> Document:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _percent(value: Any) -> int | None:
    """A whole number from 0 to 100, also out of `45.0` and `"45%"`."""
    try:
        number = int(float(str(value).strip().rstrip("%")))
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 100 else None


def _messages(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        text = (one.get("Message") or one.get("MessageId")) if isinstance(one, dict) else one
        if isinstance(text, str) and text:
            yield text


def _request(payload: Any) -> str:
    value = payload.get("TargetUri") if isinstance(payload, dict) else None
    return value if isinstance(value, str) else ""


def _targets(payload: Any) -> tuple[str, ...]:
    """Targets of the request, whose body a Payload carries as a JSON text."""
    value = payload.get("JsonBody") if isinstance(payload, dict) else None
    try:
        request = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return ()
    targets = request.get("Targets") if isinstance(request, dict) else None
    return tuple(one for one in targets if isinstance(one, str)) if isinstance(targets, list) else ()
