"""Names of things. They are strings to Python and different types to the reader and to mypy."""

from dataclasses import dataclass
from typing import NewType, Self

NodeName = NewType("NodeName", str)
"""One server, as on its label and in the expected list, such as `r01-u01`."""

RackName = NewType("RackName", str)

OperationId = NewType("OperationId", str)
"""`<operation>/<node>/g<generation>/a<attempt>`: the same id is the same run."""

ReleaseDigest = NewType("ReleaseDigest", str)
"""`sha256:<64 hex digits>` over everything that a release names."""

TaskUri = NewType("TaskUri", str)
"""Where a BMC reports on one of its tasks; a path on that BMC."""


@dataclass(frozen=True, slots=True)
class RunKey:
    """One run of one operation on one node: the same key is the same run, on every worker and after every restart."""

    operation: str
    node: NodeName
    generation: int
    attempt: int

    @property
    def id(self) -> OperationId:
        """As the engine, the logs and people see it."""
        return OperationId(f"{self.operation}/{self.node}/g{self.generation}/a{self.attempt}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The reverse of `id`. Raises ValueError for anything else."""
        operation, node, generation, attempt = text.split("/")
        return cls(operation, NodeName(node), int(generation.removeprefix("g")), int(attempt.removeprefix("a")))
