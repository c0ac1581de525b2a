"""Which chassis of a box holds a part that has firmware, and can be cut off by itself."""

from collections.abc import Iterator, Mapping, Sequence

from provisioner.models.inventory import FirmwareComponent
from provisioner.redfish.cycles import Cycle
from provisioner.redfish.layout import Layout
from provisioner.redfish.reader import Reader
from provisioner.redfish.snapshot import Document, folded, link, links

_Known = Mapping[str, tuple[str, Document]]


async def holding(
    reader: Reader, layout: Layout, parts: Sequence[FirmwareComponent], found: Sequence[Cycle]
) -> list[str]:
    """The chassis of these parts, each once; none at all where a part is in no chassis that has a verb of its own.

    By RelatedItem alone: a chassis, or a device that names its chassis; then the ones around it (ContainedBy). One that
    names the host among its systems has no power of its own: OpenBMC offers Chassis.Reset on each of those, and all
    of them cycle the host (bmcweb, chassis.hpp; 18 on a recorded GB200 tray).
    """
    verbs = {folded(one.chassis) for one in found if one.chassis is not None}
    if not verbs:
        return []
    _, chassis = await reader.members(link(layout.root, "Chassis"))
    known = {folded(path): (path, one) for path, one in chassis}
    able = {path for path in verbs & set(known) if not _is_of_host(known[path][1], layout)}
    holders: list[str] = []
    for part in parts:
        starts = [await _chassis_of(reader, path, known) for path in part.related]
        around = (path for start in starts for path in _outwards(start, known))
        holder = next((path for path in around if folded(path) in able), None)
        if holder is None:
            return []
        holders.append(holder)
    return list(dict.fromkeys(holders))


def _is_of_host(chassis: Document, layout: Layout) -> bool:
    return folded(layout.host) in {folded(path) for path in links(chassis, "Links", "ComputerSystems")}


async def _chassis_of(reader: Reader, path: str, known: _Known) -> str | None:
    if folded(path) in known:
        return path
    device = await reader.optional(path)
    return next(iter(links(device, "Links", "Chassis")), None)


def _outwards(path: str | None, known: _Known) -> Iterator[str]:
    seen: set[str] = set()
    while path is not None and folded(path) in known and folded(path) not in seen:
        seen.add(folded(path))
        found, document = known[folded(path)]
        yield found
        path = link(document, "Links", "ContainedBy")
