"""What would be done to a node, in order, before anything is done."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from profiles.firmware.component import Activation
from profiles.release import Release
from provisioner.bios.plan import BiosPlan, plan_bios
from provisioner.capabilities.world import World
from provisioner.firmware.plan import FirmwarePlan, plan_updates
from provisioner.lifecycle.table import RULES
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.operations.reach import bmc_of


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One thing that would be done. `expected` at the pace of real hardware. `resets`: bmc, host, or nothing."""

    what: str
    expected: timedelta
    resets: str = ""
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodePlan:
    """All steps in order."""

    node: Node
    release: str | None
    steps: tuple[PlanStep, ...]

    @property
    def host_resets(self) -> int:
        """How often the host goes down."""
        return sum(step.resets == "host" for step in self.steps)

    @property
    def expected(self) -> timedelta:
        """All steps together."""
        return sum((step.expected for step in self.steps), timedelta())


_RESET = timedelta(minutes=8)
"""Off, on, and the self-test of an 8-GPU server."""


async def plan(world: World, name: NodeName) -> NodePlan:
    """Look at the device now and say what is left to do; writes nothing. Raises `NotFound`, `BmcError`.

    Before the node is inventoried, only the way there can be said.
    """
    node = await world.nodes.get(name)
    early = tuple(_early(node.state))
    if node.release is None:
        return NodePlan(node, None, early)
    release = await world.documents.release(node.release)
    async with bmc_of(world, name) as bmc:
        firmware = plan_updates(release.firmware, await bmc.firmware())
        bios = plan_bios(release.bios, await bmc.bios())
    boots = _boot(release, needed=node.observed_image != release.image_digest or bool(firmware.updates or bios.changes))
    return NodePlan(node, release.name, (*early, *_firmware(firmware), *_bios(bios), *boots))


def _early(state: State) -> Iterator[PlanStep]:
    order = [State.DISCOVERED, State.IDENTIFIED, State.SECURED, State.INVENTORIED]
    if state in order:
        for one in order[order.index(state) :]:
            yield PlanStep(RULES[one].doing, RULES[one].expected or timedelta())


def _firmware(plan: FirmwarePlan) -> Iterator[PlanStep]:
    if plan.refusals:
        yield PlanStep("firmware cannot be brought to its bundle", timedelta(), refusals=plan.refusals)
    for stage in plan.stages:
        for update in stage.updates:
            running = ", ".join(sorted(set(update.running)))
            back = "; no way back" if update.irreversible else ""
            what = f"flash {', '.join(update.components)} from {running} to {update.version}"
            yield PlanStep(f"{what} ({len(update.parts)} parts{back})", update.expected)
        what, resets = _ACTIVATIONS[stage.activation]
        if what:
            yield PlanStep(f"{what}, so that the new firmware runs", stage.activating, resets)


_ACTIVATIONS = {
    Activation.NONE: ("", ""),
    Activation.BMC_RESET: ("restart the BMC", "bmc"),
    Activation.HOST_RESET: ("switch the host off and on", "host"),
    Activation.POWER_CYCLE: ("switch the host off and on", "host"),
    Activation.AUX_CYCLE: ("cut the standby power of the board", "host"),
    Activation.AC_CYCLE: ("cut the mains of the server", "host"),
}


def _bios(plan: BiosPlan) -> Iterator[PlanStep]:
    if plan.refusals:
        yield PlanStep("the BIOS profile does not fit", timedelta(), refusals=plan.refusals)
    if plan.changes:
        settings = ", ".join(f"{name}={value}" for name, value in plan.changes.items())
        yield PlanStep(f"set {settings}", timedelta(minutes=1))
        yield PlanStep("switch the host off and on, so that the settings apply", _RESET, "host")


def _boot(release: Release, *, needed: bool) -> Iterator[PlanStep]:
    if needed:
        yield PlanStep(
            f"boot image {release.image.name} ({release.image_digest[:19]}) from the network", _RESET, "host"
        )
        minutes = sum((item.deadline for item in release.burn_in.items), timedelta())
        yield PlanStep(f"burn in: {release.burn_in.name}, at most", minutes)
