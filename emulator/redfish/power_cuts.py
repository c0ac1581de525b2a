"""The OEM verbs that cut power, where a fault takes them away."""

from emulator.machine.machine import Machine
from emulator.tree import cycles
from emulator.tree.document import Document


def hide(machine: Machine, path: str, document: Document) -> None:
    """Take them out of the document at `path`."""
    if not are_missing(machine):
        return
    for owner, entry in cycles.links(machine.board.persona):
        if owner == path:
            _without(document, entry)


def are_missing(machine: Machine) -> bool:
    """The BMC has none."""
    return machine.board.faults.peek("power-cut-not-offered") is not None


def _without(document: Document, entry: Document) -> None:
    for name, inside in entry.items():
        if name.startswith("#"):
            document.pop(name, None)
        elif isinstance(document.get(name), dict):
            document[name] = dict(document[name])  # it may be shared with the tree
            _without(document[name], inside)
