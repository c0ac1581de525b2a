"""The lifecycle table as a Mermaid diagram, for the README."""

from provisioner.lifecycle.table import HOLDABLE, TABLE
from provisioner.models.lifecycle import State


def mermaid() -> str:
    """`stateDiagram-v2` with the table's states, operations and moves; ends with a newline."""
    lines = ["stateDiagram-v2", "    [*] --> discovered"]
    for rule in TABLE:
        for index, to in enumerate(rule.to):
            label = f" : {rule.operation}" if rule.operation and index == 0 else ""
            lines.append(f"    {rule.state} --> {to}{label}")
    held_from = ", ".join(state for state in State if state in HOLDABLE)
    lines.append(f"    note right of held : from and back to any of {held_from}")
    lines.append("    decommissioned --> [*]")
    return "\n".join(lines) + "\n"
