"""inventoried -> updating_firmware: which release does this hardware get?"""

from profiles.matching import Found, Refusal
from profiles.models import HardwareClass
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import NeedsPerson
from provisioner.models.identifiers import ReleaseDigest, RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.inventory import Inventory
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.operations.inventory import look_again
from provisioner.operations.outcome import Outcome
from provisioner.operations.reach import tell

_ARCHITECTURES = {"aarch64": "arm64"}
"""Kernel and DMTF words for one thing; profiles use the kernel's."""


async def assign(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Match the hardware, count the GPUs, take the site's release for that class."""
    chosen = await durable.step("choose_release", choose_release, world, key)
    return Outcome(State.UPDATING_FIRMWARE, chosen)


async def choose_release(world: World, key: RunKey) -> str:
    """A release that was assigned to the node before stays; a sentence about it.

    Where the last sweep does not fit, the device is looked at again before a person is asked.
    """
    await tell(world, key, "matching the hardware to a release")
    node = await world.nodes.get(key.node)
    try:
        hardware = _hardware_class(world, node, await world.documents.inventory(key.node))
    except NeedsPerson:
        hardware = _hardware_class(world, node, await look_again(world, key))
    if node.release is not None and await _is_for(world, node.release, hardware):
        await world.nodes.assign(key.node, hardware.name, node.release)
        return f"{hardware.name} keeps release {node.release}"
    release = world.releases.desired(hardware.name)
    if release is None:
        raise _no_release(node, hardware)
    await world.documents.put_release(release)
    await world.nodes.assign(key.node, hardware.name, ReleaseDigest(release.digest))
    return f"{hardware.name} gets release {release.name} ({release.digest[:19]})"


async def _is_for(world: World, release: ReleaseDigest, hardware: HardwareClass) -> bool:
    return (await world.documents.release(release)).hardware_class.name == hardware.name


def _hardware_class(world: World, node: Node, seen: Inventory) -> HardwareClass:
    found = Found(
        manufacturer=seen.identity.manufacturer,
        model=seen.identity.model,
        gpu_models=tuple(gpu.model for gpu in seen.gpus),
        arch=_ARCHITECTURES.get(seen.architecture, seen.architecture),
    )
    hardware = world.releases.hardware_class(found)
    if isinstance(hardware, Refusal):
        raise _unknown_hardware(node, hardware)
    if len(seen.gpus) != hardware.gpu_count:
        raise _gpus_missing(node, hardware, seen)
    return hardware


def _unknown_hardware(node: Node, refusal: Refusal) -> NeedsPerson:
    return NeedsPerson(
        str(refusal),
        Instruction(
            owner=Owner.IMAGE_OWNER,
            where="profiles/hardware/",
            what=f"write a hardware class that matches it, then: firstlight node release {node.name}",
            done_when="exactly one hardware class matches",
        ),
    )


def _gpus_missing(node: Node, hardware: HardwareClass, seen: Inventory) -> NeedsPerson:
    ids = ", ".join(gpu.id for gpu in seen.gpus) or "none"
    return NeedsPerson(
        f"{len(seen.gpus)} GPUs answer, a {hardware.name} has {hardware.gpu_count} (seen: {ids})",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="switch the server off at both power feeds for a minute and on again; if a GPU is still missing, "
            f"reseat the one whose place is not among those seen ({ids}), then: firstlight node release {node.name}",
            part="GPU module of the missing position",
            done_when=f"{hardware.gpu_count} GPUs answer",
        ),
    )


def _no_release(node: Node, hardware: HardwareClass) -> NeedsPerson:
    return NeedsPerson(
        f"the site has chosen no release for {hardware.name}",
        Instruction(
            owner=Owner.OPERATOR,
            where="site.yaml, field releases",
            what=f"name a release for {hardware.name}, restart the service, then: firstlight node release {node.name}",
            done_when="site.yaml names one",
        ),
    )
