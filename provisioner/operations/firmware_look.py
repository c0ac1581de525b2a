"""One look at a node's firmware, beside its bundle and the journal."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from profiles.firmware.bundle import FirmwareBundle
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import NotFound
from provisioner.firmware.phase import Entry
from provisioner.firmware.plan import FirmwarePlan, Update, plan_updates, unproven
from provisioner.firmware.proof import Proof, known_as, prove
from provisioner.models.identifiers import RunKey
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.update import UpdateOffer
from provisioner.operations.reach import release_of

LOOK_EVERY = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Look:
    """The inventory, each part by the id that the bundle knows, and what the BMC offers."""

    bundle: FirmwareBundle
    inventory: tuple[FirmwareComponent, ...]
    offer: UpdateOffer | None = None

    @property
    def plan(self) -> FirmwarePlan:
        """What is left to do."""
        largest = self.offer.largest_bytes if self.offer else None
        return plan_updates(self.bundle, self.inventory, largest_bytes=largest)

    @property
    def unproven(self) -> tuple[str, ...]:
        """The classes that are not seen to run what the bundle wants."""
        return unproven(self.bundle, self.inventory)

    def update_of(self, entries: Sequence[Entry]) -> Update | None:
        """The planned update for these entries; None when it is not needed, or cannot be seen to be."""
        wanted = {(entry.what.component, entry.what.version) for entry in entries}
        return next((one for one in self.plan.updates if wanted & set(classes_of(one))), None)

    def proof(self, entry: Entry) -> Proof:
        """Whether what the entry is about runs its version."""
        what = entry.what
        return prove(self.bundle, what.component, what.version, self.inventory, what.part)


async def see(world: World, key: RunKey, bmc: Bmc) -> Look:
    """The inventory alone."""
    bundle = (await release_of(world, key.node)).firmware
    return Look(bundle, known_as(bundle, await _before(world, key), await bmc.firmware()))


async def see_all(world: World, key: RunKey, bmc: Bmc) -> Look:
    """With what the BMC offers, for a plan."""
    look = await see(world, key, bmc)
    return Look(look.bundle, look.inventory, await bmc.update_offer())


def classes_of(update: Update) -> list[tuple[str, str]]:
    """(class, version) of all that an update brings."""
    return list(zip(update.components, update.versions, strict=True))


async def open_entries(world: World, key: RunKey, components: Collection[str]) -> list[Entry]:
    """What is not finished of these classes, oldest first."""
    return [entry for entry in await world.journal.open(key.node) if entry.what.component in components]


async def _before(world: World, key: RunKey) -> tuple[FirmwareComponent, ...]:
    try:
        return (await world.documents.inventory(key.node)).firmware
    except NotFound:
        return ()
