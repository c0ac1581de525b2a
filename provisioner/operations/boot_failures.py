"""What a person does about a boot that failed: by what the initrd reported, or by how far it came."""

from collections.abc import Callable
from dataclasses import dataclass

from images.manifest import ImageManifest
from provisioner.capabilities.world import World
from provisioner.errors import NeedsPerson
from provisioner.models.boot import BootFailure, BootTicket, FailureKind
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.node import Node


async def failed(world: World, node: Node, ticket: BootTicket) -> NeedsPerson:
    """The last failure is one that another try would not mend.

    Where bytes were wrong, our own copy of the root is read first: it tells whether to look here or on the way.
    """
    failure = ticket.failures[-1]
    if failure.kind is FailureKind.INTEGRITY:
        sound = await world.artefacts.is_sound(ticket.root)
        manifest = world.artefacts.manifest(ticket.image)
        instruction = _damaged_on_the_way(node, ticket) if sound else _damaged_here(node, ticket, manifest)
    elif failure.kind is FailureKind.MEMORY:
        instruction = _too_large(node)
    else:
        instruction = _cannot_mount(node, ticket)
    return NeedsPerson(_said(failure), instruction)


def gave_up(node: Node, ticket: BootTicket, tries: int) -> NeedsPerson:
    """Switched on `tries` times, and no agent reported."""
    stage = next(one for one in _STAGES if one.is_so(ticket))
    seen = stage.seen.format(served=ticket.served, failure=_said(ticket.failures[-1]) if ticket.failures else "")
    return NeedsPerson(
        f"switched on {tries} times, and no agent reported; {seen}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what=f"{stage.what}; then: firstlight node release {node.name}",
            part=stage.part,
            done_when="its agent reports",
        ),
    )


def _said(failure: BootFailure) -> str:
    return f"its boot failed ({failure.kind}): {failure.detail}"


def _damaged_on_the_way(node: Node, ticket: BootTicket) -> Instruction:
    return Instruction(
        owner=Owner.TECHNICIAN,
        where=node.place,
        what="our own copy of the root is sound, so it is damaged on the way or in this server. On another machine of "
        f"the boot network fetch /v1/artefacts/{ticket.root} from every address that the reason names, and compare "
        "sha256sum: where it differs, tell the image owner to repair that mirror; where it is right, put the boot "
        "cable into another switch port, and then run a memory test. "
        f"When one of them was found and put right: firstlight node release {node.name}",
        part="memory module, if the memory test names one; network cable otherwise",
        done_when=f"it boots a root whose digest is {ticket.root}",
    )


def _damaged_here(node: Node, ticket: BootTicket, manifest: ImageManifest) -> Instruction:
    again = f"run: firstlight image build {manifest.name}" if manifest.bootable else "restart the service"
    return Instruction(
        owner=Owner.IMAGE_OWNER,
        where=f"the artefact store of the service, file {ticket.root}",
        what="our own copy of the root is damaged: check the disk of the service, delete the file, "
        f"{again}; and for every node that waits: firstlight node release {node.name}",
        done_when=f"sha256sum of the file is {ticket.root.removeprefix('sha256:')}",
    )


def _too_large(node: Node) -> Instruction:
    return Instruction(
        owner=Owner.TECHNICIAN,
        where=node.place,
        what="compare the memory that the BMC lists with what is in the slots and reseat what is missing; if all is "
        "there, ask the image owner for a smaller root or a smaller root.overlay_mib; "
        f"then: firstlight node release {node.name}",
        part="memory module of a slot that the BMC does not list",
        done_when="the root fits into its memory",
    )


def _cannot_mount(node: Node, ticket: BootTicket) -> Instruction:
    return Instruction(
        owner=Owner.IMAGE_OWNER,
        where=f"image {ticket.image}",
        what="its own kernel cannot mount the root, which its boot test should have shown: correct the image "
        "(squashfs, dm-verity and overlay in the initrd, one kernel), build it, and give the node a release with it: "
        f"firstlight node reimage {node.name} --release RELEASE",
        done_when="its boot test passes",
    )


@dataclass(frozen=True, slots=True)
class _Stage:
    """How far it came. `seen` may name {served} and {failure}."""

    is_so: Callable[[BootTicket], bool]
    seen: str
    what: str
    part: str | None = None


def _by(kind: FailureKind) -> Callable[[BootTicket], bool]:
    return lambda ticket: bool(ticket.failures) and ticket.failures[-1].kind is kind


_NO_DHCP = (
    'where it says "no answer by DHCP", its firmware got an address and its initrd none, and cannot tell us: see that '
    "the DHCP server of the boot network answers the MAC that stands there and has addresses left (firstlight boot "
    "options says what it has to answer), and that the switch port forwards as soon as its link is up"
)
"""An initrd without an address reports nothing: only its console knows."""

_STAGES = (
    _Stage(
        _by(FailureKind.NETWORK),
        "{failure}",
        "go by what the reason names: a card without a link, its cable and switch port; a card without an answer by "
        "DHCP, the DHCP server; no card at all, ask the image owner for its driver; no words from the service, the log "
        "of the service of that minute",
        "network cable, if its link light stays dark",
    ),
    _Stage(
        _by(FailureKind.FETCH),
        "{failure}",
        "from another machine of the boot network fetch what the reason names; where that fails, repair that server "
        "or the way to it",
    ),
    _Stage(
        lambda ticket: not ticket.served,
        "it never asked for an image",
        "check that the boot network's cable is in the port that boots, with a link light, and that network boot is on "
        "in the BIOS set-up",
        "network cable, if its link light stays dark",
    ),
    _Stage(
        lambda ticket: ticket.programs == ticket.served and not ticket.asked,
        "it fetched its boot program {served} times, and nothing in it has asked for the words of the boot: its "
        "firmware refuses to start it, its kernel stops at once, or its initrd got no answer by DHCP",
        "look at its console: where it says Access Denied or Security Violation, enrol the site's db certificate or "
        f"switch Secure Boot off in the BIOS set-up; {_NO_DHCP}; otherwise note the last lines for the image owner",
    ),
    _Stage(
        lambda ticket: not ticket.asked and not ticket.failures,
        "it asked for its image {served} times, and its initrd has reported nothing: it got no answer by DHCP, or the "
        "kernel or the image stops",
        f"look at its console: {_NO_DHCP}; otherwise note the last lines for the image owner",
    ),
    _Stage(
        lambda _: True,
        "it asked for its image {served} times",
        "look at its console for why the image stops",
    ),
)
