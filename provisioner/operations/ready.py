"""The last look before `ready`: the device itself, once more, against everything that its release says."""

from provisioner.bios.plan import plan_bios
from provisioner.capabilities.world import World
from provisioner.firmware.plan import plan_updates
from provisioner.models.identifiers import RunKey
from provisioner.models.inventory import Power
from provisioner.models.lifecycle import State
from provisioner.operations.reach import bmc_of, release_of, tell


async def observe_ready(world: World, key: RunKey) -> list[str]:
    """[state to go to, reason]: ready, or the state that puts right what has drifted since."""
    await tell(world, key, "looking at everything once more")
    release = await release_of(world, key.node)
    ticket = await world.boots.latest(key.node)
    async with bmc_of(world, key.node) as bmc:
        if await bmc.power() is not Power.ON:
            return [State.BOOTING, "the host has lost power since its burn-in"]
        firmware = plan_updates(release.firmware, await bmc.firmware())
        bios = plan_bios(release.bios, await bmc.bios())
    if firmware.updates:
        drifted = ", ".join(update.component for update in firmware.updates)
        return [State.UPDATING_FIRMWARE, f"firmware has changed since it was brought to its bundle: {drifted}"]
    if bios.changes:
        return [State.CONFIGURING_BIOS, f"BIOS settings have changed since: {', '.join(bios.changes)}"]
    if ticket is None or ticket.booted_image != release.image_digest:
        return [State.BOOTING, "the image that it reports is not the one of its release"]
    await world.nodes.observe_image(key.node, release.image_digest, world.clock.now())
    checks = ", ".join(item.id for item in release.burn_in.items)
    return [
        State.READY,
        f"seen on the device: firmware {release.firmware.name}, BIOS {release.bios.name}, "
        f"image {release.image_digest[:19]}; passed: {checks}",
    ]
