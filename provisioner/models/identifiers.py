"""Names of things. They are strings to Python and different types to the reader and to mypy."""

from typing import NewType

NodeName = NewType("NodeName", str)
"""One server, as on its label and in the expected list, such as `r01-u01`."""

RackName = NewType("RackName", str)

OperationId = NewType("OperationId", str)
"""`<operation>/<node>/g<generation>/a<attempt>`: the same id is the same run."""

ReleaseDigest = NewType("ReleaseDigest", str)
"""`sha256:<64 hex digits>` over everything that a release names."""

TaskUri = NewType("TaskUri", str)
"""Where a BMC reports on one of its tasks; a path on that BMC."""


def operation_id(operation: str, node: NodeName, generation: int, attempt: int) -> OperationId:
    """The deterministic id of one run of one operation on one node."""
    return OperationId(f"{operation}/{node}/g{generation}/a{attempt}")


def node_of(operation: OperationId) -> NodeName:
    """The node that an operation id belongs to."""
    return NodeName(operation.split("/")[1])
