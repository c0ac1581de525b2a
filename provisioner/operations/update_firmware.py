"""updating_firmware -> configuring_bios: every component runs the version that the bundle names."""

from dataclasses import dataclass
from datetime import timedelta

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import Activation
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, BmcError, BmcUnreachable, NeedsPerson, NotAchieved, ResourceGone
from provisioner.firmware.plan import FirmwarePlan, Update, as_complete, plan_updates, unproven
from provisioner.firmware.task import TaskVerdict, flashes, judge_task, may_run_for, ours, waits_for_reset
from provisioner.models.identifiers import RunKey, TaskUri
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.inventory import FirmwareComponent, Task
from provisioner.models.lifecycle import State
from provisioner.models.package import Package
from provisioner.models.update import UpdateOrder
from provisioner.operations.outcome import Outcome
from provisioner.operations.power import await_no_flash, await_post, power_off, power_on
from provisioner.operations.reach import bmc_of, release_of, tell, until

_LOOK_EVERY = timedelta(seconds=10)
_TASK_LIMIT = timedelta(hours=2)
_BY_HOST = frozenset({Activation.HOST_RESET, Activation.POWER_CYCLE})
_SETTLE_LIMIT = timedelta(minutes=10)
"""Inventories show a new version up to minutes after the reset that activates it."""

_COMPLETE_LIMIT = timedelta(minutes=3)
"""A BMC that has just started shows a part of its inventory, for 40 s and more (fwupd#4531)."""

_LOST_LIMIT = timedelta(minutes=3)
_BMC_RESETS = 3


async def update_firmware(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Flash what differs, in the bundle's order, activate everything together, believe only the running versions."""
    behind = await durable.step("plan_firmware", plan_firmware, world, key)
    for component, activation in behind:
        task = await durable.step(f"start_update:{component}", start_update, world, key, component)
        await durable.step(f"await_update:{component}", await_update, world, key, component, task)
        if activation == Activation.BMC_RESET:
            await durable.step(f"reset_bmc:{component}", reset_bmc, world, key, component)
    if any(activation in _BY_HOST for _, activation in behind):
        await durable.step("power_off_to_activate", power_off, world, key)
        await durable.step("power_on_to_activate", power_on, world, key)
        await durable.step("await_post_to_activate", await_post, world, key)
    summary = await durable.step("verify_firmware", verify_firmware, world, key)
    return Outcome(State.CONFIGURING_BIOS, summary)


async def plan_firmware(world: World, key: RunKey) -> list[list[str]]:
    """[component class, activation] of what differs, in order. Raises `NeedsPerson` with every refusal at once."""
    await tell(world, key, "comparing firmware with its bundle")
    plan = FirmwarePlan(())

    async def fits() -> bool:
        nonlocal plan
        async with bmc_of(world, key.node) as bmc:
            plan = (await _see(world, key, bmc)).plan
        return not plan.refusals

    await until(world.clock, fits, every=_LOOK_EVERY, limit=_COMPLETE_LIMIT)
    missing = [update.file for update in plan.updates if world.artefacts.package(update.digest) is None]
    if plan.refusals or missing:
        raise await _cannot(world, key, plan, missing)
    return [[update.component, str(update.activation)] for update in plan.updates]


async def start_update(world: World, key: RunKey, component: str) -> str:
    """Send it at most once, ever; the task's URI, or "" when nobody knows it and the version must tell.

    The intent is written before anything is sent. A run that finds an intent does not send again: it looks for the
    task that was made, and else lets activation and the running version decide. While somebody else's update is at
    work, a run for another release or another tool, it waits: BMCs take one at a time.
    """
    task = ""

    async def sent() -> bool:
        nonlocal task
        async with bmc_of(world, key.node) as bmc:
            seen = await _see(world, key, bmc)
            update = seen.updates.get(component)
            if update is None:
                _prove(bmc, seen, component)
                return True
            where = (key.node, component, update.version)
            known = await world.journal.task(*where)
            if known is None and await world.journal.intended(*where) is None:
                if any(flashes(other) for other in await bmc.tasks()):
                    return False
                await tell(world, key, f"sending {component} {update.version}", 0)
                await world.journal.intend(*where, world.clock.now())
                known = await _send(world, key, bmc, update)
            known = known or await _find_task(bmc, update.targets or ())
            if known is not None:
                await world.journal.started(*where, known)
            task = known or ""
        return True

    if not await until(world.clock, sent, every=_LOOK_EVERY, limit=_TASK_LIMIT):
        node = await world.nodes.get(key.node)
        raise NotAchieved(str(node.bmc), f"{component}: an update that is not ours has run for two hours")
    return task


async def await_update(world: World, key: RunKey, component: str, task: str) -> None:
    """Until the task has ended, or the new version runs, or a task that the BMC has forgotten must have ended.

    A task that waits for a reset has ended here, where a reset of the host activates the component.
    Raises `NotAchieved` when the task says that it failed or goes on for more than two hours.
    """
    bundle = (await release_of(world, key.node)).firmware
    by_host = {one.component for one in bundle.components if one.activation in _BY_HOST}

    async def ended() -> bool:
        async with bmc_of(world, key.node) as bmc:
            seen = await _look(bmc, TaskUri(task)) if task else None
            if seen is None:
                return await _must_have_ended(world, key, bmc, component)
            if judge_task(seen) is TaskVerdict.FAILED:
                await _forget(world, key, bmc, component)
                said = "; ".join(seen.messages) or seen.status
                raise NotAchieved(str(bmc.address), f"{component}: the update ended as {seen.state}: {said}")
            await tell(world, key, f"flashing {component}", seen.percent)
            staged = waits_for_reset(seen) and component in by_host
            return staged or judge_task(seen) is TaskVerdict.JUDGE_BY_VERSION

    if not await until(world.clock, ended, every=_LOOK_EVERY, limit=_TASK_LIMIT):
        node = await world.nodes.get(key.node)
        raise NotAchieved(str(node.bmc), f"{component}: the update has not ended after two hours ({task})")


async def reset_bmc(world: World, key: RunKey, component: str) -> None:
    """Reset the BMC if the new version does not run yet (some reset themselves), and wait until it does.

    Then until it shows the whole inventory again, or the next update would miss parts. It is asked again only when the
    answer was lost: a second reset does less harm than a second flash.
    """
    await tell(world, key, f"activating {component}")
    await await_no_flash(world, key)

    async def runs() -> bool:
        async with bmc_of(world, key.node) as bmc:
            return component not in (await _see(world, key, bmc)).unproven

    for _ in range(_BMC_RESETS):
        async with bmc_of(world, key.node) as bmc:
            if component not in (await _see(world, key, bmc)).unproven:
                break
            answered = await _reset(bmc)
        limit = _SETTLE_LIMIT if answered else _LOST_LIMIT
        if await until(world.clock, runs, every=_LOOK_EVERY, limit=limit) or answered:
            break
    before = (await world.documents.inventory(key.node)).firmware

    async def shows_all() -> bool:
        async with bmc_of(world, key.node) as bmc:
            seen = await _see(world, key, bmc)
        return as_complete(seen.bundle, seen.inventory, before)

    await until(world.clock, shows_all, every=_LOOK_EVERY, limit=_COMPLETE_LIMIT)


async def verify_firmware(world: World, key: RunKey) -> str:
    """Every component runs its version; a sentence about it. Raises `NotAchieved` naming what does not.

    Either way the journal is closed: what has been activated and does not run may be flashed again.
    """
    await tell(world, key, "checking the running versions")
    left: list[str] = []

    async def settled() -> bool:
        async with bmc_of(world, key.node) as bmc:
            seen = await _see(world, key, bmc)
        left[:] = [_left(name, seen.updates.get(name)) for name in seen.unproven]
        return not left

    await until(world.clock, settled, every=_LOOK_EVERY, limit=_SETTLE_LIMIT)
    release = await release_of(world, key.node)
    for wanted in release.firmware.components:
        await world.journal.close(key.node, wanted.component, wanted.version)
    if left:
        node = await world.nodes.get(key.node)
        raise NotAchieved(str(node.bmc), f"flashed and activated, yet {'; '.join(left)}")
    return f"all {len(release.firmware.components)} component classes run bundle {release.firmware.name}"


@dataclass(frozen=True, slots=True)
class _Seen:
    """One look at the firmware inventory, against the bundle."""

    bundle: FirmwareBundle
    inventory: tuple[FirmwareComponent, ...]

    @property
    def plan(self) -> FirmwarePlan:
        return plan_updates(self.bundle, self.inventory)

    @property
    def updates(self) -> dict[str, Update]:
        return {update.component: update for update in self.plan.updates}

    @property
    def unproven(self) -> tuple[str, ...]:
        return unproven(self.bundle, self.inventory)


async def _see(world: World, key: RunKey, bmc: Bmc) -> _Seen:
    return _Seen((await release_of(world, key.node)).firmware, await bmc.firmware())


async def _reset(bmc: Bmc) -> bool:
    """False when nobody knows whether it was acted on."""
    try:
        await bmc.reset_bmc()
    except AnswerLost:
        return False
    return True


def _prove(bmc: Bmc, seen: _Seen, component: str) -> None:
    """Nothing to flash means that it runs, unless the BMC does not show it now: raises `BmcUnreachable` then."""
    if component in seen.unproven:
        raise BmcUnreachable(str(bmc.address), f"shows no {component} now, or none with a version")


def _left(component: str, update: Update | None) -> str:
    if update is None:
        return f"{component} is not in the inventory, or reports no version"
    return f"{component} runs {', '.join(sorted(set(update.running)))}, not {update.version}"


async def _send(world: World, key: RunKey, bmc: Bmc, update: Update) -> TaskUri | None:
    try:
        return await bmc.start_update(UpdateOrder(_package(world, update), update.targets))
    except AnswerLost:
        return None  # the task list tells whether it arrived
    except BmcError:
        await world.journal.close(key.node, update.component, update.version)  # it did not arrive
        raise


async def _find_task(bmc: Bmc, targets: tuple[str, ...]) -> TaskUri | None:
    """One that runs, else one that ended well. Never a failed one: that may be of an earlier try."""
    found = {judge_task(task): TaskUri(task.uri) for task in await bmc.tasks() if ours(task, targets)}
    return found.get(TaskVerdict.RUNNING) or found.get(TaskVerdict.JUDGE_BY_VERSION)


async def _look(bmc: Bmc, task: TaskUri) -> Task | None:
    try:
        return await bmc.task(task)
    except ResourceGone:
        return None


async def _must_have_ended(world: World, key: RunKey, bmc: Bmc, component: str) -> bool:
    """Without a task to look at: nothing that could be it runs any more, and the version runs, or twice the expected
    time has passed since it was sent.
    """
    seen = await _see(world, key, bmc)
    update = seen.updates.get(component)
    if any(may_run_for(task, update.parts if update else ()) for task in await bmc.tasks()):
        return False
    if update is None:
        _prove(bmc, seen, component)
        return True
    sent = await world.journal.intended(key.node, component, update.version)
    waited = (world.clock.now() - sent).total_seconds() if sent else 0.0
    return waited >= world.clock.wall(2 * update.expected)


async def _forget(world: World, key: RunKey, bmc: Bmc, component: str) -> None:
    update = (await _see(world, key, bmc)).updates.get(component)
    if update is not None:
        await world.journal.close(key.node, component, update.version)


def _package(world: World, update: Update) -> Package:
    package = world.artefacts.package(update.digest)
    assert package is not None, "plan_firmware has refused a bundle with missing files"  # noqa: S101
    return package


async def _cannot(world: World, key: RunKey, plan: FirmwarePlan, missing: list[str]) -> NeedsPerson:
    release = await release_of(world, key.node)
    reasons = [*plan.refusals, *(f"package {file} is not in the artefact store" for file in missing)]
    return NeedsPerson(
        "; ".join(reasons),
        Instruction(
            owner=Owner.IMAGE_OWNER,
            where=f"firmware bundle {release.firmware.name}",
            what="put the missing packages into the folder that site.yaml names as firmware_dir, or correct the "
            f"bundle, restart the service, then: firstlight node release {key.node}",
            done_when="every component of the bundle fits this server and has its package",
        ),
    )
