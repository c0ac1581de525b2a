"""secured -> inventoried: what is inside?"""

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.models.identifiers import RunKey
from provisioner.models.inventory import Inventory, Power
from provisioner.models.lifecycle import State
from provisioner.operations.outcome import Outcome
from provisioner.operations.power import await_post, power_on
from provisioner.operations.reach import bmc_of, tell


async def inventory(durable: Durable, world: World, key: RunKey) -> Outcome:
    """One sweep over the asyncio read path, kept as the node's inventory.

    Many BMCs show GPUs only while the host is on, and a new server may be off.
    """
    dark, summary = await durable.step("read_inventory", read_inventory, world, key)
    if dark:
        await durable.step("power_on_to_see", power_on, world, key)
        await durable.step("await_post_to_see", await_post, world, key)
        _, summary = await durable.step("read_inventory_again", read_inventory, world, key)
    return Outcome(State.INVENTORIED, summary)


async def look_again(world: World, key: RunKey) -> Inventory:
    """What is inside now, with the host on: somebody may have put something right since the last sweep."""
    dark, _ = await read_inventory(world, key)
    if dark:
        await power_on(world, key)
        await await_post(world, key)
        await read_inventory(world, key)
    return await world.documents.inventory(key.node)


async def read_inventory(world: World, key: RunKey) -> tuple[bool, str]:
    """Read and keep; whether there may be more to see with the host on, and a sentence about it."""
    await tell(world, key, "reading processors, memory, ports and firmware versions")
    async with bmc_of(world, key.node) as bmc:
        seen = await bmc.inventory()
    await world.documents.put_inventory(key.node, seen, world.clock.now())
    models = sorted({gpu.model for gpu in seen.gpus})
    dark = seen.power is not Power.ON and not seen.gpus
    return (
        dark,
        f"{seen.identity.manufacturer} {seen.identity.model}: {len(seen.gpus)} x {' + '.join(models) or 'GPU'}, "
        f"{seen.memory_gib:g} GiB, {len(seen.firmware)} firmware components",
    )
