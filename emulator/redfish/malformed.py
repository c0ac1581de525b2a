"""Faults of what answers say: messages and dates that are not as the schema has them."""

import re
from typing import Any

from emulator.machine.board import Board
from emulator.tree.document import ROOT

_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
_INFO = "@Message.ExtendedInfo"


def deform(board: Board, document: dict[str, Any] | None) -> None:
    """Do to an answer what the faults say."""
    if document is None:
        return
    faults = board.faults
    dates = faults.take("dates-invalid")
    if dates:
        _replace_dates(document, str(dates["value"]))
    state = faults.take("state-invalid")
    if state:
        _replace_states(document, str(state["value"]))
    links = faults.peek("root-links-absent") if document.get("@odata.id") == ROOT else None
    for name in links["names"] if links else ():
        document.pop(name, None)
    error = document.get("error")
    if isinstance(error, dict) and isinstance(error.get(_INFO), list) and error[_INFO]:
        _deform_messages(board, error)


def _deform_messages(board: Board, error: dict[str, Any]) -> None:
    faults = board.faults
    if faults.take("message-args-absent"):
        for message in error[_INFO]:
            message.pop("MessageArgs", None)
    if faults.take("message-id-without-registry"):
        for message in error[_INFO]:
            message["MessageId"] = str(message.get("MessageId", "")).rpartition(".")[2]
    if faults.take("extended-info-object"):
        error[_INFO] = error[_INFO][0]


def _replace_states(value: Any, wrong: str) -> None:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(parts):
        if key == "Status" and isinstance(part, dict) and "State" in part:
            part["State"] = wrong
        if isinstance(part, dict | list):
            _replace_states(part, wrong)


def _replace_dates(value: Any, wrong: str) -> None:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(parts):
        if isinstance(part, dict | list):
            _replace_dates(part, wrong)
        elif isinstance(part, str) and _DATE.match(part):
            value[key] = wrong
