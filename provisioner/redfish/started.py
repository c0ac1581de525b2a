"""Which task the answer to a start names, wherever the BMC put it; pure.

DSP0266 "Asynchronous operations" says 202 with the monitor in `Location` and the Task in the body. BMCs answer with
either (stmcginnis/gofish#494), with a Location on a name of their own, with a relative one, with a Task without an id,
or with messages whose arguments name the task in one of two forms (metal-toolbox/bmclib#399).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import Task
from provisioner.redfish.answer import Answer
from provisioner.redfish.messages import EXTENDED_INFO
from provisioner.redfish.snapshot import Document, folded, link

ROOT = "/redfish/v1/"
NAMED = re.compile(r"/redfish/v1/[^\s\"',;]*\b(?:Tasks?|TaskMonitors?|Jobs)/[^\s\"',;]+", re.IGNORECASE)
PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")


def started_task(answer: Answer, tasks: str | None = None) -> TaskUri | None:
    """Where the answer says that its task is; None when it does not say. `tasks` is the path of the task collection.

    The Task itself, when it is in the body, is better than the monitor in `Location`: monitors vanish when done.
    """
    body = body_of(answer)
    location, monitor = _path(answer.headers.get("Location")), _path(body.get("TaskMonitor"))
    if "TaskState" in body or "#Task." in str(body.get("@odata.type")):
        found = link(body) or _member(tasks, body.get("Id")) or location or monitor
    else:
        found = location or link(body) or monitor or _in_messages(body, tasks)
    return TaskUri(found) if found else None


def body_of(answer: Answer) -> Document:
    """The JSON object of an answer; empty when it has none."""
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def newcomer(before: frozenset[str], now: Iterable[Task], *, requests: frozenset[str]) -> TaskUri | None:
    """The one task that was not there before; with several, the one that says that it stands for one of `requests`.

    None when none or more than one could be it: a wrong task would be watched in place of ours.
    """
    new = [task for task in now if folded(task.uri) not in before]
    fitting = [task for task in new if task.request and folded(task.request) in requests]
    chosen = fitting or [task for task in new if not task.request]
    return TaskUri(chosen[0].uri) if len(chosen) == 1 else None


def stands_for(monitor: str, uri: str, document: Document) -> bool:
    """The task at `uri` is the one of this monitor: it says so, or has the same id (iLO 5's monitors answer 404)."""
    own = _path(document.get("TaskMonitor"))
    if own and folded(own) == folded(monitor):
        return True
    parts = folded(monitor).removesuffix("/monitor").split("/")
    return parts[-1] == folded(uri).rpartition("/")[2]


def _path(value: Any) -> str | None:
    """The path of a link: absolute, relative to the root, or on a host name that only the BMC knows."""
    if isinstance(value, dict):
        value = value.get("@odata.id")
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return None
    path = parts.path if parts.path.startswith("/") else ROOT + parts.path.removeprefix("./")
    return f"{path}?{parts.query}" if parts.query else path


def _member(collection: str | None, identity: object) -> str | None:
    usable = isinstance(identity, (str, int)) and PLAIN.fullmatch(str(identity))
    return f"{collection.rstrip('/')}/{identity}" if collection and usable else None


def _in_messages(body: Document, tasks: str | None) -> str | None:
    messages = list(_messages(body))
    for one in messages:
        arguments = one.get("MessageArgs")
        texts = [*arguments, one.get("Message")] if isinstance(arguments, list) else [one.get("Message")]
        for text in texts:
            found = NAMED.search(text) if isinstance(text, str) else None
            if found:
                return found.group().rstrip(".)")
    for one in messages:
        arguments = one.get("MessageArgs")
        about = f"{one.get('MessageId')} {one.get('Message')}".lower()
        if isinstance(arguments, list) and len(arguments) == 1 and ("task" in about or "accepted" in about):
            return _member(tasks, arguments[0])
    return None


def _messages(value: Any) -> Iterator[dict[str, Any]]:
    """Message objects at any depth: Supermicro puts them below `Accepted`."""
    if isinstance(value, list):
        for one in value:
            yield from _messages(one)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name == EXTENDED_INFO:
                for one in inner if isinstance(inner, list) else [inner]:
                    if isinstance(one, dict):
                        yield one
            else:
                yield from _messages(inner)
