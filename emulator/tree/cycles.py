"""The OEM verbs that cut power, in the documents of those that have them."""

from collections.abc import Iterator

from emulator.persona.hardware import Cycle
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import Document, Entry


def links(persona: Persona) -> Iterator[Entry]:
    """What to put into the document of each owner."""
    verbs: dict[tuple[str, str], Document] = {}
    for cycle in persona.cycles:
        verb = verbs.setdefault((_owner(persona, cycle), cycle.action), {"target": cycle.target})
        verb.setdefault(f"{cycle.parameter}@Redfish.AllowableValues", []).append(cycle.value)
    for cycle in persona.cycles:
        owner = _owner(persona, cycle)
        entry: Document = {f"#{cycle.action}": verbs[owner, cycle.action]}
        for name in reversed(cycle.inside):
            entry = {name: entry}
        yield owner, entry


def _owner(persona: Persona, cycle: Cycle) -> str:
    owners = {
        "system": places.host(persona),
        "manager": places.bmc(persona),
        "chassis": f"{places.CHASSIS}/{cycle.chassis or persona.chassis[0].id}",
    }
    return owners[cycle.owner]
