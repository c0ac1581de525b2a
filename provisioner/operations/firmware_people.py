"""What a person does about firmware that does not get on by itself."""

from collections.abc import Sequence

from profiles.firmware.component import Activation
from provisioner.errors import NeedsPerson
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.node import Node


def does_not_fit(node: Node, bundle: str, reasons: Sequence[str]) -> NeedsPerson:
    """The plan cannot be carried out."""
    return NeedsPerson(
        "; ".join(reasons),
        Instruction(
            owner=Owner.IMAGE_OWNER,
            where=f"firmware bundle {bundle}",
            what="do what the reason says: put missing packages into the folder that site.yaml names as firmware_dir, "
            f"or correct the bundle or its catalog; restart the service, then: firstlight node release {node.name}",
            done_when="every component of the bundle fits this server and has its package",
        ),
    )


def unfit_package(node: Node, bundle: str, reasons: Sequence[str]) -> NeedsPerson:
    """A package is damaged, for other hardware, or not what the catalog says. `reasons` name the files."""
    return NeedsPerson(
        "; ".join(reasons),
        Instruction(
            owner=Owner.IMAGE_OWNER,
            where=f"firmware bundle {bundle}, and the file and field that the reason names",
            what="nothing has been sent. Look at the file (firstlight firmware inspect FILE); get it from its maker "
            "again, or name the package of this model in the catalog; put it into the folder that site.yaml names as "
            f"firmware_dir, restart the service, then: firstlight node release {node.name}",
            done_when="the file is whole, for these parts, and holds the version that the bundle names",
        ),
    )


def busy_too_long(node: Node, component: str, why: str) -> NeedsPerson:
    """Somebody else's update, or a background copy, does not end. It is never touched."""
    return NeedsPerson(
        f"{component} cannot be sent: for two hours, {why}",
        Instruction(
            owner=Owner.OPERATOR,
            where=node.place,
            what="find out who began that (the BMC's task list names it), let it end or end it there; Firstlight does "
            f"not touch what it has not begun; then: firstlight node release {node.name}",
            done_when="the BMC lists no update at work and copies nothing",
        ),
    )


def stalled(node: Node, component: str, task: str, why: str, server: str = "") -> NeedsPerson:
    """Our own update has stopped, and may be at work all the same. `server`: where the BMC never came for it."""
    return NeedsPerson(
        f"{component}: {why}; the old version runs, and nothing is sent again or reset under it",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what=f"leave the server powered. {_way_to(server)}Look at task {task} on the BMC: if it still writes, wait "
            "until it ends; if it hangs, reset the BMC from its own page and wait until it answers; "
            f"then: firstlight node release {node.name}",
            done_when=f"the BMC lists the task no more or says how it ended; the version of {component} decides then",
        ),
    )


def pull_the_cords(node: Node, activation: Activation, components: Sequence[str], *, told: bool) -> NeedsPerson:
    """The BMC has no verb that cuts enough power. `told`: somebody has been told before, and nothing has changed."""
    what = {
        Activation.AUX_CYCLE: "standby power of the board has to go off and on",
        Activation.AC_CYCLE: "the mains have to go off and on",
    }[activation]
    still = " still run the old version: " if told else " wait for that: "
    return NeedsPerson(
        f"{what}, and this BMC offers no verb for it; staged and{still}{', '.join(components)}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="shut the host down, pull every power cord of this chassis (all feeds at once), wait 60 seconds, plug "
            f"them in again, wait until the BMC answers, then: firstlight node release {node.name}",
            part="power cords of the chassis, all of them",
            done_when="the parts report their new versions; Firstlight reads them after the release",
        ),
    )


def nothing_stronger(node: Node, parts: Sequence[str], tried: str) -> NeedsPerson:
    """New images wait in parts that have another power than what the BMC has cut. `parts`: what each of them says."""
    return NeedsPerson(
        f"after {tried} the old version runs, and the new one waits: {'; '.join(parts)}; this BMC offers nothing more "
        "that cuts their power",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="shut the host down, pull every power cord of this chassis (all feeds at once; where nodes share the "
            "chassis, theirs go down too), wait 60 seconds, plug them in again, wait until the BMC answers, then: "
            f"firstlight node release {node.name}",
            part=f"power cords of the chassis, all of them; it is about {'; '.join(parts)}",
            done_when="the parts report their new versions; Firstlight reads them after the release",
        ),
    )


def neighbours(node: Node, activation: Activation, reason: str) -> NeedsPerson:
    """The activation would take down a node that somebody works on."""
    return NeedsPerson(
        f"{activation} waits: {reason}",
        Instruction(
            owner=Owner.OPERATOR,
            where=node.place,
            what=f"take the nodes that the reason names out of production (or wait until they are), "
            f"then: firstlight node release {node.name}",
            done_when="no other node that goes down with this one is in production",
        ),
    )


def undeclared(node: Node, activation: Activation, domains: Sequence[str]) -> NeedsPerson:
    """The activation takes down a domain that the expected list does not name for this node."""
    return NeedsPerson(
        f"{activation} takes down its whole {' and '.join(domains)}, and the expected list does not say who is in it",
        Instruction(
            owner=Owner.OPERATOR,
            where=f"the expected list, {node.name}, field domains",
            what=f"write the name of its {' and '.join(domains)} for this node and for all that share it, restart the "
            f"service, then: firstlight node release {node.name}",
            done_when="the expected list names the domain of this node",
        ),
    )


def keeps_failing(node: Node, failures: Sequence[str], *, tries: int, refused: bool, server: str = "") -> NeedsPerson:
    """So often, or refused with words: no further try by itself. `failures`: class, part and what was seen.

    `server`: where the BMC never came for a package.
    """
    count = "the BMC refused it" if refused else f"tried {tries} times"
    return NeedsPerson(
        f"{count}, and not all firmware is as the bundle says: {'; '.join(failures)}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what=f"do not put the server to work: its firmware is mixed. {_way_to(server)}Read the reason and the "
            "BMC's event log; for a part that keeps its old version, shut the host down, pull all power cords for 60 "
            "seconds and plug them in again; if it fails once more after the release, replace the part that the reason "
            "names; "
            f"then: firstlight node release {node.name}",
            part="the part that the reason names, if it fails again",
            done_when="every part reports the version of the bundle",
        ),
    )


def _way_to(server: str) -> str:
    """What to check where a BMC does not come for its package."""
    if not server:
        return ""
    return (
        f"From the BMC's network, open {server}: check the route, the firewall, the certificate if it is HTTPS, and "
        "that public_url in site.yaml is an address which BMCs reach; if a proxy serves it, its log tells more. "
    )
