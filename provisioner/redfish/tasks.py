"""Tasks and task monitors, as tolerant as BMCs are careless; pure."""

from collections.abc import Iterator
from typing import Any

import orjson

from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import Task
from provisioner.redfish.answer import Answer
from provisioner.redfish.messages import failure_in
from provisioner.redfish.resources.task import TaskEntry
from provisioner.redfish.snapshot import Document, Snapshot
from provisioner.redfish.started import body_of

ACCEPTED = 202
STANDARD = frozenset({"", "Base", "Update", "TaskEvent"})
"""Registries of DSP8011 and its like, whose ids say no more than their texts."""
RUNNING, COMPLETED = "Running", "Completed"


def task_of(uri: TaskUri, answer: Answer) -> Task:
    """One look at a task or at its monitor, which answers 202 while it runs and then whatever the request answered."""
    body = body_of(answer)
    if "TaskState" not in body:
        wrong = failure_in(answer.content)
        if wrong:
            return failed(uri, wrong)
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


def _percent(value: Any) -> int | None:
    """A whole number from 0 to 100, also out of `45.0` and `"45%"`."""
    try:
        number = int(float(str(value).strip().rstrip("%")))
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 100 else None


def _messages(value: Any) -> Iterator[str]:
    """In the BMC's order; those of a registry that is not DMTF's with their id, which support will ask for."""
    for one in value if isinstance(value, list) else [value]:
        text, identity = (one.get("Message"), one.get("MessageId")) if isinstance(one, dict) else (one, None)
        if isinstance(identity, str) and identity.partition(".")[0] not in STANDARD:
            yield f"{text} ({identity})" if isinstance(text, str) and text else identity
        elif isinstance(text, str) and text:
            yield text
        elif isinstance(identity, str) and identity:
            yield identity


def _targets(payload: Any) -> tuple[str, ...]:
    """Targets of the request, whose body a Payload carries as a JSON text."""
    value = payload.get("JsonBody") if isinstance(payload, dict) else None
    try:
        request = orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return ()
    targets = request.get("Targets") if isinstance(request, dict) else None
    return tuple(one for one in targets if isinstance(one, str)) if isinstance(targets, list) else ()


def _request(payload: Any) -> str:
    value = payload.get("TargetUri") if isinstance(payload, dict) else None
    return value if isinstance(value, str) else ""
