"""Is every package there, whole, and for these parts? Looked at before anything that writes goes to the BMC."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from profiles.firmware.component import Artefact
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner.capabilities.world import World
from provisioner.errors import NotFound, PackageError
from provisioner.firmware.classes import matching
from provisioner.firmware.package.preflight import Claim, refusals
from provisioner.firmware.phase import Change, Phase
from provisioner.firmware.plan import Update
from provisioner.models.identifiers import RunKey
from provisioner.models.package import Package
from provisioner.operations.firmware_look import LOOK_EVERY, Look, classes_of
from provisioner.operations.firmware_people import does_not_fit, unfit_package
from provisioner.operations.reach import until

_PATIENCE = timedelta(minutes=3)
_UNSENT = frozenset({Phase.PLANNED, Phase.PREFLIGHT})


async def refuse_unfit(world: World, key: RunKey, look: Look, updates: Sequence[Update]) -> None:
    """Raises `NeedsPerson` with everything that is wrong with the packages of these updates.

    What is planned with a file that must not be sent ends `failed`, with the file and the field; a file that nobody
    has fails nothing.
    """
    missing = await _missing(world, look, updates)
    unfit: list[str] = []
    for update in updates:
        if update.digest in missing:
            continue
        reasons = await _reasons(world, look, update)
        if reasons:
            await _fail(world, key, update, "; ".join(reasons))
            unfit += reasons
    node = await world.nodes.get(key.node)
    if missing:
        raise does_not_fit(node, look.bundle.name, [*unfit, *missing.values()])
    if unfit:
        raise unfit_package(node, look.bundle.name, unfit)


async def _missing(world: World, look: Look, updates: Sequence[Update]) -> Mapping[str, str]:
    """By digest, where each was looked for that is not here; asked for a while, as another worker may have it soon."""
    missing: dict[str, str] = {}

    async def all_here() -> bool:
        missing.clear()
        for update in updates:
            try:
                await world.artefacts.obtain(_artefact(look, update))
            except NotFound as error:
                missing[update.digest] = str(error)
        return not missing

    await until(world.clock, all_here, every=LOOK_EVERY, limit=_PATIENCE)
    return missing


async def package_of(world: World, key: RunKey, look: Look, update: Update) -> Package:
    """The file of an update, once nothing is wrong with it. Raises `NeedsPerson`."""
    await refuse_unfit(world, key, look, [update])
    return await world.artefacts.obtain(_artefact(look, update))


async def _reasons(world: World, look: Look, update: Update) -> tuple[str, ...]:
    artefact = _artefact(look, update)
    try:
        found = await world.artefacts.inspect(artefact)
    except PackageError as error:
        return (f"{artefact.file}: {error}",)
    return refusals(artefact, found, list(_claims(look, update)))


async def _fail(world: World, key: RunKey, update: Update, reason: str) -> None:
    brought, now = set(classes_of(update)), world.clock.now()
    entries = [
        one
        for one in await world.journal.open(key.node)
        if one.phase in _UNSENT and (one.what.component, one.what.version) in brought
    ]
    planned = [one for one in entries if one.phase is Phase.PLANNED]
    begun = [*(one for one in entries if one.phase is Phase.PREFLIGHT)]
    begun += await world.journal.move(planned, Change(Phase.PREFLIGHT, now, "looking at its package"))
    await world.journal.move(begun, Change(Phase.FAILED, now, reason, seen=True))


def _claims(look: Look, update: Update) -> Iterator[Claim]:
    brought = dict(classes_of(update))
    for wanted in look.bundle.components:
        version = brought.get(wanted.component)
        if version is not None:
            stamps = _stamps(wanted)
            running = [one.version or "" for one in matching(wanted, look.inventory)]
            installed = {one: stamps[one] for one in running if one in stamps}
            yield Claim(wanted.component, version, wanted.extract, wanted.pldm, stamps.get(version), installed)


def _stamps(wanted: Wanted) -> Mapping[str, int]:
    return {one.version: one.comparison_stamp for one in wanted.releases if one.comparison_stamp is not None}


def _artefact(look: Look, update: Update) -> Artefact:
    """As the catalog has it, with its size."""
    for wanted in look.bundle.components:
        for artefact in (wanted.artefact, *(one.artefact for one in wanted.releases)):
            if f"sha256:{artefact.sha256}" == update.digest:
                return artefact
    raise NotFound(f"package {update.file} is in no release of bundle {look.bundle.name}; correct its catalog")
