"""A BMC is back when what needs a login answers whole: pings, TCP and the root come minutes earlier.

sonic-net/sonic-platform-common#707 (503, then 401), fwupd/fwupd#4531 (an inventory that answers 503 for 40 s more).
"""

from provisioner.redfish.access import Access
from provisioner.redfish.login import ROOT
from provisioner.redfish.reader import Reader
from provisioner.redfish.snapshot import Document, Members, link, links


async def is_ready(access: Access, reader: Reader) -> bool:
    """The root, every manager, the update service and every entry of the firmware inventory answer now.

    Raises as reads do. One look: a caller wants two of them with a pause in between, as inventories still grow. A short
    one that counts right looks whole: compare it with the parts that were there before as well.
    """
    root = await access.document(ROOT)
    managers = await reader.members(link(root, "Managers"))
    if not _whole(*managers):
        return False
    path = link(root, "UpdateService")
    service = await access.document(path) if path else {}
    if _state(service) in {"Starting", "Disabled", "Updating"} or service.get("ServiceEnabled") is False:
        return False
    return path is None or _whole(*await reader.members(link(service, "FirmwareInventory")))


def _whole(collection: Document, members: Members) -> bool:
    """Everything that the collection lists has answered, and it lists as many as it counts."""
    listed, count = links(collection, "Members"), collection.get("Members@odata.count")
    paged = bool(collection.get("Members@odata.nextLink"))
    return bool(members) and (
        paged or len(listed) == len(members) == (count if isinstance(count, int) else len(listed))
    )


def _state(document: Document) -> str:
    status = document.get("Status")
    return str(status.get("State")) if isinstance(status, dict) else ""
