"""NVIDIA boards: a root of trust copies the image that it has just started to its second slot; no flash meanwhile.

Newer BMCs say so in the inventory entry itself, others in the chassis of the root of trust (NVIDIA/open-nvfwupd,
`background-copy`). Pure.
"""

from collections.abc import Iterable
from dataclasses import replace

from provisioner.models.inventory import FirmwareComponent
from provisioner.redfish.snapshot import Document, Members, folded, link, links

STATUS = "BackgroundCopyStatus"
UNDER_WAY = "InProgress"


def copies(document: Document) -> bool:
    """This entry or chassis says that its copy is under way."""
    return _nvidia(document).get(STATUS) == UNDER_WAY


def other_slot(document: Document) -> str | None:
    """What the slot holds that does not run; None where this entry does not say."""
    slot = _nvidia(document).get("InactiveFirmwareSlot")
    version = slot.get("Version") if isinstance(slot, dict) else None
    return version if isinstance(version, str) and version else None


def may_have_roots(components: Iterable[FirmwareComponent]) -> bool:
    """Only boards with roots of trust copy; each of those has firmware of its own (ERoT, IRoT)."""
    return any("rot" in one.id.lower() for one in components)


def roots_in(chassis: Members) -> tuple[str, ...]:
    """The chassis to ask."""
    return tuple(path for path, one in chassis if STATUS in _nvidia(one))


def marked(
    components: tuple[FirmwareComponent, ...], roots: Iterable[tuple[str, Document]]
) -> tuple[FirmwareComponent, ...]:
    """With `copying` on what belongs to a root of trust that copies: its own firmware, and that of what it protects.

    All of them, where none can be told to belong to it: a flash that waits for nothing does less harm than the reverse.
    """
    found = components
    for path, one in roots:
        if not copies(one):
            continue
        near = {path, link(one, "Links", "ContainedBy"), *links(one, "Links", "Oem", "Nvidia", "ComponentsProtected")}
        held = {folded(place) for place in near if place}
        ours = {part.uri for part in components if not held.isdisjoint(map(folded, part.related))}
        found = tuple(replace(part, copying=True) if not ours or part.uri in ours else part for part in found)
    return found


def _nvidia(document: Document) -> Document:
    oem = document.get("Oem")
    nvidia = oem.get("Nvidia") if isinstance(oem, dict) else None
    return nvidia if isinstance(nvidia, dict) else {}
