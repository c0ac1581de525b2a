"""What a person does about a BMC that would not play along: one instruction per kind of error."""

from datetime import datetime, timedelta

from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.node import Node

LOOK_AGAIN = timedelta(minutes=10)
"""Real time. A BMC that was away is asked again by itself; whoever pushed the cable in need not tell us."""


def explain(node: Node, kind: str, message: str, now: datetime) -> Hold:
    """The hold for an error class of `provisioner.errors`, named `kind`, with its message."""
    instruction = _BY_KIND.get(kind, _refused)(node)
    by_itself = kind in {"BmcUnreachable", "AnswerLost"}
    return Hold(message, instruction, now, now + LOOK_AGAIN if by_itself else None)


def _unreachable(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.TECHNICIAN,
        where=node.place,
        what="check that the server has power at both feeds and that its management cable is in the BMC's port with "
        "a link light",
        part="management cable, if its link light stays dark",
        done_when=f"the BMC answers at https://{node.bmc}/redfish/v1/; Firstlight looks again every 10 minutes",
    )


def _login(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.TECHNICIAN,
        where=node.place,
        what=f"read the BMC's user name and password on the pull-out label and enter them: "
        f"firstlight node password {node.name}",
        done_when="the BMC accepts the password; it is tried once as soon as it is entered",
    )


def _certificate(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.OPERATOR,
        where=node.place,
        what="find out why the BMC shows another certificate (board swapped? certificate renewed?); if that is right: "
        f"firstlight node trust {node.name}",
        done_when="the certificate that it shows is the trusted one",
    )


def _missed(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.TECHNICIAN,
        where=node.place,
        what="look at the server's console and at the BMC's event log for what stopped it, put that right, "
        f"then: firstlight node release {node.name}",
        done_when="the step that failed three times passes",
    )


def _records(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.OPERATOR,
        where="site.yaml and the folders that it names",
        what="put back what the reason names (a release or an image that nodes still run), restart the service, "
        f"then: firstlight node release {node.name}",
        done_when="what the reason names is there again",
    )


def _refused(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.OPERATOR,
        where=node.place,
        what=f"read the BMC's own words in the reason; when it is put right: firstlight node release {node.name}",
        done_when="the BMC takes the request",
    )


_BY_KIND = {
    "BmcUnreachable": _unreachable,
    "AnswerLost": _unreachable,
    "LoginRefused": _login,
    "LoginBudgetSpent": _login,
    "CertificateChanged": _certificate,
    "NotAchieved": _missed,
    "NotFound": _records,
    "Conflict": _records,
    "BadInput": _records,
}
