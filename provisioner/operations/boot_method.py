"""Tell a node's firmware how to boot from the network: by the first way that its BMC really takes."""

from images.boot_program.build import BootProgram
from provisioner.boot.choose import choose_methods
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, BadInput, BmcRefused, NeedsPerson
from provisioner.models.boot import BootMethod, BootTicket
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from provisioner.operations.inventory import look_again
from provisioner.operations.reach import bmc_of

_ASKS = 2
"""A BMC whose answer was lost, and who has not acted, is asked once more; it is a state that is asked for."""
_UNSAID = frozenset({"", "None"})
"""Boot targets that say nothing of what will be booted."""
_CD = "Cd"

Override = tuple[str, str, str | None]
"""As `Bmc.boot_override` says it."""


async def set_method(world: World, key: RunKey, ticket: BootTicket) -> None:
    """Boot once from the network. A way that the BMC refuses is passed over in this attempt, and told in its history.

    Raises `NeedsPerson` when no way is left, or when firmware would refuse to start the image.
    """
    program = await _program(world, key, ticket)
    ways = await _ways(world, key, ticket, program)
    async with bmc_of(world, key.node) as bmc:
        if (program is None or not program.signed) and await bmc.secure_boot():
            raise _unsigned(await world.nodes.get(key.node), ticket)
        refusal = "its BMC offers neither HTTP boot nor PXE"
        for way in ways:
            before = await bmc.boot_override()
            said = "" if _is_set(way, before) else await _ask(bmc, way, before)
            if not said:
                return
            refusal = f"its BMC does not take {way.target}: {said}"
            await world.boots.refused(ticket, way.target)
            await world.nodes.tell(key.node, f"{refusal}; trying the next way", world.clock.now())
    raise _no_network_boot(await world.nodes.get(key.node), refusal)


async def _program(world: World, key: RunKey, ticket: BootTicket) -> BootProgram | None:
    """The program for UEFI, and None where iPXE does without it."""
    try:
        return await world.artefacts.uki(ticket.image)
    except BadInput as error:
        bootable = world.artefacts.manifest(ticket.image).bootable
        if bootable is None or bootable.secure_boot:
            raise _no_program(await world.nodes.get(key.node), str(error)) from error
        await world.nodes.tell(key.node, f"no UEFI HTTP boot: {error}", world.clock.now())
        return None


async def _ways(world: World, key: RunKey, ticket: BootTicket, program: BootProgram | None) -> tuple[BootMethod, ...]:
    """Those that were not refused in this attempt. Where the last sweep shows none, the BMC is looked at again."""
    uri = Secret(f"{world.public_url}/boot/{ticket.key.reveal()}/boot.efi") if program else None
    manifest = world.artefacts.manifest(ticket.image)
    seen = await world.documents.inventory(key.node)
    ways = choose_methods(seen.boot, manifest, uri)
    if not ways:
        ways = choose_methods((await look_again(world, key)).boot, manifest, uri)
    return tuple(way for way in ways if way.target not in ticket.refused)


async def _ask(bmc: Bmc, way: BootMethod, before: Override) -> str:
    """Why the BMC does not take it, in its own words where it gave any; empty when it is set, or will be at the next
    start: some show what was there before until then.

    sushy-tools takes an .efi for an image of a CD and says so afterwards: what is set then is not what was asked for.
    """
    for number in range(1, _ASKS + 1):
        try:
            await bmc.set_boot_override(way)
        except BmcRefused as error:
            return error.message
        except AnswerLost as error:
            if _is_set(way, await bmc.boot_override()):
                return ""
            if number == _ASKS:
                return error.message
        else:
            break
    _, target, _ = await bmc.boot_override()
    changed = target != before[1] or target == _CD
    return f"it set {target} instead" if changed and target not in {way.target, *_UNSAID} else ""


def _is_set(way: BootMethod, override: Override) -> bool:
    enabled, target, uri = override
    wanted = way.uri.reveal() if way.uri else None
    return enabled in {"Once", "Continuous"} and target == way.target and (wanted is None or uri == wanted)


def _no_network_boot(node: Node, reason: str) -> NeedsPerson:
    return NeedsPerson(
        reason,
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="switch network boot on in the BIOS set-up (network stack, PXE), "
            f"then: firstlight node release {node.name}",
            done_when="the BMC lists Pxe or UefiHttp among its boot targets, and takes one of them",
        ),
    )


def _unsigned(node: Node, ticket: BootTicket) -> NeedsPerson:
    return NeedsPerson(
        f"Secure Boot is on, and the boot program of image {ticket.image[:19]} is not signed: firmware would refuse it",
        Instruction(
            owner=Owner.OPERATOR,
            where="site.yaml, field network_boot.sign",
            what="sign boot programs (firstlight boot keys DIR makes the keys; enrol its db certificate on the server) "
            "and restart the service, or switch Secure Boot off in the BIOS set-up; "
            f"then: firstlight node release {node.name}",
            done_when="its boot program is signed, or the BMC says that Secure Boot is off",
        ),
    )


def _no_program(node: Node, reason: str) -> NeedsPerson:
    return NeedsPerson(
        f"there is no boot program: {reason}",
        Instruction(
            owner=Owner.OPERATOR,
            where="site.yaml, field network_boot",
            what=f"put right what the reason names, restart the service, then: firstlight node release {node.name}",
            done_when="the boot program can be made",
        ),
    )
