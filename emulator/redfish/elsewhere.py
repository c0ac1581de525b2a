"""Faults of names: a path or a BIOS attribute that is called otherwise than elsewhere, both ways.

A request is read as if it had the usual names, and its answer is told with the others; the usual ones are unknown.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from emulator.machine.machine import Machine
from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response
from emulator.tree import places
from emulator.tree.document import ROOT, Document
from emulator.tree.virtual_media import media_path

_SESSIONS = f"{ROOT}/Sessions"
_MEDIA = "VirtualMedia"


def receive(request: Request) -> None:
    """Give a request the usual names. Raises RedfishError 404 for a path that is elsewhere."""
    if not request.machine.board.faults:
        return
    for usual, moved in _moves(request.machine):
        if _is_below(request.path, usual):
            raise not_found(request.path)
        if _is_below(request.path, moved):
            request.path = usual + request.path[len(moved) :]
    names = _attribute(request.machine)
    if names and request.body and "/Bios" in request.path:
        request.body = _renamed_body(request.body, names)


def tell(request: Request, response: Response) -> None:
    """Tell an answer with the other names."""
    machine, document = request.machine, response.document
    if not machine.board.faults:
        return
    for usual, moved in _moves(machine):
        location = response.headers.get("Location", "")
        if _is_below(location, usual):
            response.headers["Location"] = moved + location[len(usual) :]
        if document is not None:
            _move_link(document, usual, moved)
            _replace(document, lambda text, usual=usual, moved=moved: _moved(text, usual, moved))  # type: ignore[misc]
    names = _attribute(machine)
    if names and document is not None and ("/Bios" in request.path or "/Registries/" in request.path):
        _swap(document, names)


def _moves(machine: Machine) -> Iterator[tuple[str, str]]:
    """The paths that have moved: where they usually are, where they are now."""
    faults, persona = machine.board.faults, machine.board.persona
    if faults.peek("media-moved") and persona.services.virtual_media:
        usual = media_path(persona)
        owners = {places.host(persona): places.bmc(persona), places.bmc(persona): places.host(persona)}
        yield usual, f"{owners[usual.rpartition('/')[0]]}/{_MEDIA}"
    if faults.peek("sessions-moved"):
        yield places.SESSIONS, _SESSIONS


def _attribute(machine: Machine) -> tuple[str, str] | None:
    fault = machine.board.faults.peek("bios-attribute-renamed")
    return (str(fault["old"]), str(fault["new"])) if fault else None


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")


def _moved(text: str, usual: str, moved: str) -> str:
    return moved + text[len(usual) :] if _is_below(text, usual) else text


def _move_link(document: Document, usual: str, moved: str) -> None:
    """The owner of the drives links to them."""
    if not usual.endswith(f"/{_MEDIA}"):
        return
    path = document.get("@odata.id")
    if path == usual.rpartition("/")[0]:
        document.pop(_MEDIA, None)
    elif path == moved.rpartition("/")[0]:
        document[_MEDIA] = {"@odata.id": moved}


def _replace(value: Any, replaced: Callable[[str], str]) -> None:
    for key, part in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(part, dict | list):
            _replace(part, replaced)
        elif isinstance(part, str):
            value[key] = replaced(part)


def _renamed_body(body: bytes, names: tuple[str, str]) -> bytes:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body  # it is refused where it is read
    if isinstance(document, dict):
        _swap(document, names)
    return orjson.dumps(document)


def _swap(value: Any, names: tuple[str, str]) -> None:
    """Call each of two attributes as the other, as keys, values and in what messages say."""
    old, new = names
    other = {old: new, new: old}
    either = re.compile(rf"\b({re.escape(old)}|{re.escape(new)})\b")
    _replace(value, lambda text: either.sub(lambda found: other[found[0]], text))
    for part in _dictionaries(value):
        for key in [key for key in part if key.partition("@")[0] in other]:
            name, mark, rest = key.partition("@")
            part[f"{other[name]}{mark}{rest}"] = part.pop(key)


def _dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _dictionaries(part)
