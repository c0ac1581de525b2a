"""Where a BMC keeps what: the host among its systems, its manager, its services."""

from dataclasses import dataclass

from provisioner.redfish.quirks.traits import Traits
from provisioner.redfish.snapshot import Document, link, links

PROVISIONING_ACTION = "#ComputerSystem.Reset"


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths on one BMC, read once per session."""

    root: Document
    host: str
    systems: tuple[str, ...]
    """All of them, the host first."""
    manager: str | None
    traits: Traits
    edition: str
    """Vendor, product, Redfish version and BMC firmware: what a verdict about `$expand` holds for."""


def host_of(systems: dict[str, Document]) -> str | None:
    """The system that can be reset and booted; NVIDIA boards show their baseboard as a second one without either."""
    for path, document in systems.items():
        if PROVISIONING_ACTION in _actions(document) and document.get("Boot"):
            return path
    for path, document in systems.items():
        if PROVISIONING_ACTION in _actions(document) or document.get("Boot"):
            return path
    return next(iter(systems), None)


def manager_of(root: Document, host: Document) -> str | None:
    """The manager of the host: an HGX baseboard brings a second one."""
    managed_by = links(host, "Links", "ManagedBy")
    return managed_by[0] if managed_by else link(root, "Links", "ManagerProvidingService")


def _actions(document: Document) -> Document:
    actions = document.get("Actions")
    return actions if isinstance(actions, dict) else {}
