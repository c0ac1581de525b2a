"""Finding the host, its manager and its departures from the standard, once per session."""

from provisioner.errors import BmcRefused, BmcUnreachable, ResourceGone
from provisioner.redfish.access import Access
from provisioner.redfish.layout import Layout, host_of, manager_of
from provisioner.redfish.login import ROOT
from provisioner.redfish.quirks.known import traits_of
from provisioner.redfish.quirks.traits import Facts
from provisioner.redfish.snapshot import Document, Members, link, links


async def explore(access: Access) -> tuple[Layout, Members]:
    """Read the root, the systems (they come along) and the host's manager. Raises `BmcUnreachable` without a system."""
    root = await access.essential(ROOT)
    collection = await access.essential(link(root, "Systems") or f"{ROOT}Systems")
    systems = {path: await access.essential(path) for path in links(collection, "Members")}
    host = host_of(systems)
    if host is None:
        raise BmcUnreachable(access.bmc, "lists no system")  # BMCs do that while they start
    manager = manager_of(root, systems[host])
    firmware = await _document_or_nothing(access, manager)
    layout = Layout(
        root=root,
        host=host,
        systems=(host, *(path for path in systems if path != host)),
        manager=manager,
        traits=traits_of(_facts(root, systems[host])),
        edition="|".join(
            str(one)
            for one in (
                root.get("Vendor"),
                root.get("Product"),
                systems[host].get("Model"),
                root.get("RedfishVersion"),
                firmware.get("FirmwareVersion"),
            )
        ),
    )
    return layout, list(systems.items())


async def _document_or_nothing(access: Access, path: str | None) -> Document:
    try:
        return await access.document(path) if path else {}
    except (ResourceGone, BmcRefused):
        return {}


def _facts(root: Document, host: Document) -> Facts:
    return Facts(
        vendor=str(root.get("Vendor") or ""),
        product=str(root.get("Product") or ""),
        manufacturer=str(host.get("Manufacturer") or ""),
        model=str(host.get("Model") or ""),
    )
