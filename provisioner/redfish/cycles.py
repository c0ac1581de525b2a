"""The verb by which a BMC cuts the standby power of a board or the mains of a box: no two vendors call it the same.

Found in what the host, its chassis and its manager offer, never guessed from the vendor. NVIDIA: AuxPowerReset of
NvidiaChassis (refused while the host is on), Supermicro: ACCycle, Lenovo: ACPowerCycle, HPE: AuxCycle, Dell:
ExtendedReset or the BIOS attribute PowerCycleRequest, standard: FullPowerCycle and Chassis.Reset PowerCycle. The verbs
are those of dsx-ai-factory/libredfish. One is enough for a tray with DPUs: they lose power with its board.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from profiles.firmware.component import Activation
from provisioner.models.update import CycleVerb
from provisioner.redfish.inventory import ENCLOSURES
from provisioner.redfish.layout import Layout
from provisioner.redfish.reader import Reader, together
from provisioner.redfish.snapshot import Document, Members, folded, link, links

AUX, AC = Activation.AUX_CYCLE, Activation.AC_CYCLE
WORDS = {
    "AuxPowerCycle": AUX,
    "AuxCycle": AUX,
    "ACCycle": AC,
    "ACPowerCycle": AC,
    "FullPowerCycle": AC,
}
NEEDS_OFF = frozenset({"AuxPowerCycle"})
PLAIN = "PowerCycle"
"""Cuts more than the host's power in these actions only."""
PLAIN_IN = frozenset({"DellOemChassis.ExtendedReset", "Chassis.Reset"})
UNSAID: dict[str, dict[str, tuple[str, ...]]] = {"NvidiaChassis.AuxPowerReset": {"ResetType": ("AuxPowerCycle",)}}
"""What an action takes whose ActionInfo leads nowhere, as that of GB300 trays does."""
STANDARD_CHASSIS = "Chassis.Reset"
BIOS_REQUEST = ("PowerCycleRequest", "FullPowerCycle")
"""Dell: the BIOS cuts the mains when it starts the next time."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One verb. `target` is None for the BIOS attribute: it is set, then the host is started again."""

    kind: Activation
    name: str
    target: str | None
    body: Document
    needs_off: bool = False
    chassis: str | None = None
    """The chassis inside the box that it cuts, and nothing else; None: it is for the whole board or box."""

    @property
    def verb(self) -> CycleVerb:
        """What callers may know of it."""
        return CycleVerb(self.name, self.needs_off, self.kind)


def chosen(offered: Iterable[Cycle], activation: Activation) -> Cycle | None:
    """The first of the kind that is asked for; the mains stand in for standby power, never the reverse.

    Chassis.Reset PowerCycle comes last for both: the standard does not say how much it cuts, and a version tells.
    """
    found = list(offered)
    if activation not in {AUX, AC}:
        return None
    plain = [one for one in found if one.name.startswith(STANDARD_CHASSIS) and one.body.get("ResetType") == PLAIN]
    proper = [one for one in found if one not in plain]
    kinds = (AUX, AC) if activation is AUX else (AC,)
    ordered = [one for kind in kinds for one in proper if one.kind is kind] + plain
    return ordered[0] if ordered else None


def stronger(found: Sequence[Cycle], done: Activation, holders: Sequence[str]) -> tuple[Cycle, ...]:
    """What cuts more than `done`, next in strength. `found`: with every chassis; `holders`: those with the parts.

    A chassis alone comes before the board, as it takes the least down; all of them, where parts are in several.
    """
    boxes = [one for one in found if one.chassis is None]
    if done in {AUX, AC}:
        before, after = chosen(boxes, done), chosen(boxes, AC)
        return (after,) if done is AUX and after is not None and after != before else ()
    wanted = {folded(path) for path in holders}
    alone = tuple(one for one in found if one.chassis is not None and folded(one.chassis) in wanted)
    if alone and done is not Activation.BMC_RESET:
        return alone
    first = chosen(boxes, AUX)
    return (first,) if first else ()


async def offered(
    reader: Reader, layout: Layout, host: Document, bios: Document | None, *, every: bool = False
) -> list[Cycle]:
    """Every verb of the host, of the chassis that hold it, and of its manager, in this order.

    `every`: with Chassis.Reset of what is inside the box, too.
    """
    _, chassis = await reader.members(link(layout.root, "Chassis"))
    manager = await reader.optional(layout.manager)
    box = enclosure(layout.host, chassis)
    found: list[Cycle] = []
    for path, document in [(layout.host, host), *chassis, (layout.manager or "", manager or {})]:
        actions = [
            (name, action)
            for name, action in actions_of(document)
            if name != STANDARD_CHASSIS or every or _is(path, box)
        ]
        infos = await together([reader.optional(_info(action)) for _, action in actions])
        for (name, action), info in zip(actions, infos, strict=True):
            inside = path if name == STANDARD_CHASSIS and not _is(path, box) else None
            found += [
                replace(one, kind=Activation.POWER_CYCLE, chassis=inside) if inside else one
                for one in _cycles(path, name, action, _allowed(name, action, info))
            ]
    attributes = (bios or {}).get("Attributes")
    name, value = BIOS_REQUEST
    if isinstance(attributes, dict) and name in attributes:
        found.append(Cycle(AC, f"BIOS attribute {name}={value}, then a start of the host", None, {name: value}))
    return found


def enclosure(host: str, chassis: Members) -> str | None:
    """The chassis that is the whole box: by its type, else by the name of the host (NVIDIA's trays), else a card."""
    holding = [
        (path, one)
        for path, one in chassis
        if folded(host) in {folded(system) for system in links(one, "Links", "ComputerSystems")}
    ]
    free = [(path, one) for path, one in holding if link(one, "Links", "ContainedBy") is None]
    name = folded(host).rpartition("/")[2]
    by_type = [path for kind in (*ENCLOSURES, "Card") for path, one in free if one.get("ChassisType") == kind]
    by_name = [path for path, _ in free if folded(path).rpartition("/")[2] == name]
    only = [path for path, _ in holding] if len(holding) == 1 else []
    return next(iter([*by_type, *by_name, *only]), None)


def _is(path: str, box: str | None) -> bool:
    return box is not None and folded(path) == folded(box)


def actions_of(document: Document) -> Iterator[tuple[str, Document]]:
    """Standard and OEM actions that may be a reset; vendors put theirs in three places."""
    own, oem = _dict(document.get("Actions")), _dict(document.get("Oem"))
    inside = _dict(own.get("Oem"))
    places = [own, inside, *(_dict(one) for one in inside.values())]
    places += [_dict(_dict(one).get("Actions")) for one in oem.values()]
    for place in places:
        for name, action in place.items():
            plain = name.rpartition("#")[2]
            if isinstance(action, dict) and isinstance(action.get("target"), str) and _is_reset(plain):
                yield plain, action


def _is_reset(name: str) -> bool:
    word = name.lower()
    return ("reset" in word or "cycle" in word) and not any(one in word for one in ("default", "mctp", "redfishdb"))


def _info(action: Document) -> str | None:
    """The ActionInfo, where the values are not in the action itself."""
    info = action.get("@Redfish.ActionInfo")
    inline = any(name.endswith("@Redfish.AllowableValues") for name in action)
    return info if isinstance(info, str) and not inline else None


def _allowed(name: str, action: Document, info: Document | None) -> dict[str, tuple[str, ...]]:
    """Parameter -> values."""
    listed = {key.partition("@")[0]: value for key, value in action.items() if key.endswith("@Redfish.AllowableValues")}
    parameters = (info or {}).get("Parameters")
    for one in parameters if isinstance(parameters, list) else []:
        listed.setdefault(str(_dict(one).get("Name")), _dict(one).get("AllowableValues"))
    found = {key: tuple(map(str, value)) for key, value in listed.items() if isinstance(value, list)}
    return found or UNSAID.get(name, {})


def _cycles(path: str, name: str, action: Document, allowed: dict[str, tuple[str, ...]]) -> Iterator[Cycle]:
    where = path.rstrip("/").rpartition("/")[2]
    for parameter, values in allowed.items():
        for value in values:
            kind = AC if value == PLAIN and name in PLAIN_IN else WORDS.get(value)
            if kind is not None:
                words = f"{name} {value} of {where}"
                yield Cycle(kind, words, str(action["target"]), {parameter: value}, value in NEEDS_OFF)


def _dict(value: Any) -> Document:
    return value if isinstance(value, dict) else {}
