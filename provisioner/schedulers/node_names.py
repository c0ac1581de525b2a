"""Our names of nodes, and the scheduler's."""

from dataclasses import dataclass

from provisioner.models.identifiers import NodeName

PLACE = "{node}"


@dataclass(frozen=True, slots=True)
class NodeNames:
    """`pattern`: the scheduler's name, with `{node}` for ours in it."""

    pattern: str = PLACE

    def theirs(self, node: NodeName) -> str:
        """As the scheduler calls it."""
        return self.pattern.replace(PLACE, node)
