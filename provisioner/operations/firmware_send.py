"""Sending one package: looked at first, sent at most once, never again while nobody knows what became of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, BmcError, BmcRefused, BmcUnreachable, OneTargetOnly
from provisioner.firmware.phase import Change, Entry, Phase
from provisioner.firmware.plan import Update
from provisioner.firmware.task import flashes, its_own
from provisioner.models.identifiers import RunKey, TaskUri
from provisioner.models.package import Package
from provisioner.models.update import UpdateOrder
from provisioner.operations.firmware_look import LOOK_EVERY, Look, open_entries, see, see_all
from provisioner.operations.firmware_packages import package_of
from provisioner.operations.firmware_people import busy_too_long, does_not_fit
from provisioner.operations.firmware_pulls import order_of
from provisioner.operations.reach import bmc_of, tell, until

_BUSY_LIMIT = timedelta(hours=2)
REFUSED = "the BMC refused it: "
"""How the reason of an entry begins that is not worth another try."""
_UNSENT = frozenset({Phase.PLANNED, Phase.PREFLIGHT})


async def start_update(world: World, key: RunKey, components: Sequence[str]) -> bool:
    """Send what is next of these classes; True when a further part waits for its turn (F32: one target at a time).

    While somebody else's update is at work, or a device copies its slot, it waits: nothing of others is touched.
    Raises `NeedsPerson` when that does not end, and when the package must not be sent.
    """
    why = ""

    async def sent() -> bool:
        nonlocal why
        async with bmc_of(world, key.node) as bmc:
            group = await open_entries(world, key, components)
            turn = _turn(group)
            if turn:
                why = await _send_if_free(world, key, bmc, turn)
                return not why
            uploaded = [one for one in group if one.phase is Phase.UPLOADED]
            if uploaded and uploaded[0].task is None:
                update = (await see(world, key, bmc)).update_of(uploaded)
                await attach(world, bmc, uploaded, (update.targets or ()) if update else ())
        return True

    if not await until(world.clock, sent, every=LOOK_EVERY, limit=_BUSY_LIMIT):
        raise busy_too_long(await world.nodes.get(key.node), " and ".join(components), why)
    return any(one.phase in _UNSENT for one in await open_entries(world, key, components))


async def attach(world: World, bmc: Bmc, entries: Sequence[Entry], targets: Sequence[str]) -> TaskUri | None:
    """Find the task of what was sent and has none yet; begin it where uploads wait for StartUpdate (fwupd#4836).

    Asked again after a crash, StartUpdate finds nothing that waits.
    """
    listed = await bmc.tasks()
    found = its_own(listed, targets, entries[0].tasks_before)
    task = TaskUri(found.uri) if found else None
    if task is None and not any(map(flashes, listed)) and (await bmc.update_offer()).start_update:
        try:
            task = await bmc.start_staged()
        except (BmcRefused, AnswerLost):
            return None  # nothing waits, or it is at work: the list or the version tells
    if task is not None:
        await world.journal.started(entries, task)
    return task


def _turn(group: Sequence[Entry]) -> list[Entry]:
    """What is sent next: all classes of the package together, or one part."""
    unsent = [one for one in group if one.phase in _UNSENT]
    return unsent[:1] if any(one.what.part for one in unsent) else unsent


async def _send_if_free(world: World, key: RunKey, bmc: Bmc, turn: Sequence[Entry]) -> str:
    """Preflight, then send; what it has to wait for, or nothing when it is done with."""
    if not await bmc.ready():
        return "its BMC answers and is not complete"
    look = await see_all(world, key, bmc)
    update = look.update_of(turn)
    if update is None:
        await _runs_already(world, bmc, look, turn)
        return ""
    package = await _package(world, key, look, update)
    if why := await _not_free(bmc, look):
        return why
    now = world.clock.now()
    begun = [one for one in turn if one.phase is Phase.PLANNED]
    moved = await world.journal.move(begun, Change(Phase.PREFLIGHT, now, "free, and everything fits"))
    ready = [*moved, *(one for one in turn if one.phase is Phase.PREFLIGHT)]
    await tell(world, key, f"sending {' and '.join(one.name for one in turn)} {update.version}", 0)
    return await _send(world, bmc, ready, update, package)


async def _runs_already(world: World, bmc: Bmc, look: Look, turn: Sequence[Entry]) -> None:
    """Nothing to flash means that it runs, unless the BMC does not show it now: raises `BmcUnreachable` then."""
    for entry in turn:
        proof = look.proof(entry)
        if not proof.runs:
            raise BmcUnreachable(str(bmc.address), f"{entry.name}: {'; '.join(proof.left)}")
        now = world.clock.now()
        await world.journal.move([entry], Change(Phase.DONE, now, f"runs already: {', '.join(proof.parts)}", seen=True))


async def _package(world: World, key: RunKey, look: Look, update: Update) -> Package:
    """The file, whole, for these parts, and small enough. Raises `NeedsPerson`."""
    if look.plan.refusals:
        raise does_not_fit(await world.nodes.get(key.node), look.bundle.name, look.plan.refusals)
    return await package_of(world, key, look, update)


async def _not_free(bmc: Bmc, look: Look) -> str:
    """What is at work on the BMC, by its name; empty when nothing is (H7, H15)."""
    busy = [f"{task.name or 'a task'} ({task.uri})" for task in await bmc.tasks() if flashes(task)]
    if busy:
        return f"another update has been at work: {', '.join(busy)}"
    copies = [part.id for part in look.inventory if part.copying]
    if copies:
        return f"{', '.join(copies)} has been copying its firmware to its second slot"
    return "another client has reserved its update service" if look.offer and look.offer.busy else ""


async def _send(world: World, bmc: Bmc, entries: Sequence[Entry], update: Update, package: Package) -> str:
    """The intent is written first. Whoever finds it does not send again, but looks for what became of it.

    Why the BMC does not take it now, if it is busy.
    """
    targets = _targets(entries, update)
    order = await order_of(world, bmc, entries, UpdateOrder(package, targets, update.transports, update.oem))
    now, listed = world.clock.now(), [task.uri for task in await bmc.tasks()]
    live_until = now + timedelta(seconds=world.clock.wall(2 * update.expected))
    change = Change(Phase.UPLOADED, now, f"sending {update.file}")
    entries = await world.journal.send(entries, change, live_until, listed)
    try:
        task = await bmc.start_update(order)
    except AnswerLost:
        task = None  # the task list tells whether it arrived
    except OneTargetOnly as error:
        await _one_by_one(world, entries, update, error.message)
        return ""
    except BmcRefused as error:
        await world.journal.move(entries, Change(Phase.FAILED, world.clock.now(), REFUSED + error.message, seen=True))
        return ""
    except BmcError as error:  # it did not arrive
        await world.journal.move(entries, Change(Phase.PREFLIGHT, world.clock.now(), error.message, seen=True))
        if isinstance(error, BmcUnreachable):
            return error.message
        raise
    if task is not None:
        await world.journal.started(entries, task)
    else:
        await attach(world, bmc, entries, targets or ())
    return ""


def _targets(entries: Sequence[Entry], update: Update) -> tuple[str, ...] | None:
    part = entries[0].what.part
    if not part:
        return update.targets
    return tuple(uri for uri in update.parts if uri.rsplit("/", 1)[-1] == part) or update.targets


async def _one_by_one(world: World, entries: Sequence[Entry], update: Update, said: str) -> None:
    """One target after the other, where that is all a BMC takes (ansible-collections/community.general#5580).

    A package for several classes cannot be split: then it is refused.
    """
    now = world.clock.now()
    if len(entries) > 1:
        await world.journal.move(entries, Change(Phase.FAILED, now, REFUSED + said, seen=True))
        return
    (entry,) = await world.journal.move(entries, Change(Phase.PREFLIGHT, now, said, seen=True))
    ids = [uri.rsplit("/", 1)[-1] for uri in update.parts]
    unsent = [one.what for one in await world.journal.open(entry.node) if one.phase in _UNSENT]
    others = [what for what in unsent if what.component != entry.what.component]
    await world.journal.plan(entry.node, [*others, *(replace(entry.what, part=one) for one in ids)], now)
