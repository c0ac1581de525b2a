"""identified -> secured: the factory password is replaced by one that nobody has seen."""

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, LoginRefused, NotAchieved
from provisioner.models.identifiers import RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.secret import Credentials
from provisioner.operations.outcome import Outcome
from provisioner.operations.reach import bmc_of, tell


async def secure(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Change the password, and believe only a login with the new one."""
    await durable.step("set_password", set_password, world, key)
    await durable.step("verify_password", verify_password, world, key)
    return Outcome(State.SECURED, "the BMC accepts the password that stays")


async def set_password(world: World, key: RunKey) -> None:
    """The new password is kept before it is sent, so that a crash at any point leaves us with one that works."""
    if await world.vault.is_ours(key.node):
        return
    await tell(world, key, "replacing the factory password")
    node = await world.nodes.get(key.node)
    proposed, perhaps_sent = await world.vault.propose(key.node)
    if not (perhaps_sent and await _works(world, node, proposed)):
        await world.vault.sending(key.node)
        await _send(world, key, proposed)
        if not await _works(world, node, proposed):
            await _log_in(world, key)
            raise NotAchieved(str(node.bmc), "the password was changed, and the BMC does not accept the new one")
    await world.vault.confirm(key.node)


async def verify_password(world: World, key: RunKey) -> None:
    """Read something that needs a login."""
    async with bmc_of(world, key.node) as bmc:
        await bmc.power()


async def _send(world: World, key: RunKey, proposed: Credentials) -> None:
    async with bmc_of(world, key.node) as bmc:
        try:
            await bmc.change_password(proposed.username, proposed.password)
        except AnswerLost:
            return  # whether it was taken shows in the login that follows


async def _log_in(world: World, key: RunKey) -> None:
    """With the old password: that clears the refusal just counted, or the next try would spend the budget.

    Raises `LoginRefused` when that does not work either.
    """
    async with bmc_of(world, key.node):
        pass


async def _works(world: World, node: Node, credentials: Credentials) -> bool:
    try:
        async with world.bmcs.open(node.bmc, credentials) as bmc:
            await bmc.power()
    except LoginRefused:
        return False
    return True
