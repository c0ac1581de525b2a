"""Documents of resources as the builders of a tree write them.

Text in a document may hold what differs between machines of one kind, see tree.py: `${serial}`, `${uuid}`, `${mac:0}`.
"""

from collections.abc import Iterable
from typing import Any

Document = dict[str, Any]
Entry = tuple[str, Document]

HEALTHY = {"State": "Enabled", "Health": "OK"}
ROOT = "/redfish/v1"


def resource(path: str, kind: str, name: str, properties: Document) -> Entry:
    """A resource of schema `kind` (`ComputerSystem.v1_14_0.ComputerSystem`) at `path`; Id: the last part."""
    identity = path.rsplit("/", 1)[-1]
    return path, {"@odata.type": f"#{kind}", "@odata.id": path, "Id": identity, "Name": name, **properties}


def collection(path: str, kind: str, name: str, members: Iterable[str]) -> Entry:
    """A collection (`ChassisCollection`); `members` are paths or, after the collection's path, ids."""
    links = [link(member if member.startswith("/") else f"{path}/{member}") for member in members]
    document = {"@odata.type": f"#{kind}.{kind}", "@odata.id": path, "Name": name}
    return path, {**document, "Members@odata.count": len(links), "Members": links}


def link(path: str) -> dict[str, str]:
    """A reference to another resource."""
    return {"@odata.id": path}


def links(paths: Iterable[str]) -> list[dict[str, str]]:
    """References to other resources."""
    return [link(path) for path in paths]


def action(path: str, name: str, **allowable: Iterable[str]) -> Document:
    """The entry of Actions for `name` (`ComputerSystem.Reset`) of the resource at `path`; keyword: allowable values."""
    values = {f"{parameter}@Redfish.AllowableValues": list(given) for parameter, given in allowable.items()}
    return {f"#{name}": {"target": f"{path}/Actions/{name}", **values}}
