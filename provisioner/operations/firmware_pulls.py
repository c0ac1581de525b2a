"""Whether a BMC came for the package that it was told to fetch, for people, and what the next attempt makes of it."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from profiles.firmware.component import Transport
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.firmware.phase import Entry, Phase
from provisioner.models.node import BmcAddress
from provisioner.models.update import UpdateOrder

_NEVER = "never fetched the package: it cannot reach"
"""In the reason of an entry whose package nobody came for: the journal outlives this process, `pulls` does not."""
_UNSEEN = "saw no download by the BMC"
"""The same where other workers serve packages, too: not known, and a push is the better try all the same."""


async def order_of(world: World, bmc: Bmc, entries: Sequence[Entry], order: UpdateOrder) -> UpdateOrder:
    """The same order, with its pull watched; pushed first where the last attempt was a pull that never came."""
    digest = entries[0].what.digest

    def trying(transport: Transport) -> None:
        if transport is Transport.SIMPLE_UPDATE:
            world.pulls.told(bmc.address.host, digest, world.clock.now())
        else:
            world.pulls.not_told(bmc.address.host)

    order = replace(order, trying=trying)
    if not await _push_now(world, entries):
        return order
    ways = order.transports or (await bmc.update_offer()).transports
    pushes = tuple(one for one in ways if one is not Transport.SIMPLE_UPDATE)
    rest = tuple(one for one in ways if one is Transport.SIMPLE_UPDATE)
    return replace(order, transports=(*pushes, *rest)) if pushes else order


def fetched_words(world: World, bmc: BmcAddress, entry: Entry) -> str:
    """What is known of the pull of this entry's package, to be put behind a reason: `; the BMC at ...`; or nothing.

    Nothing is known of a push, and of what was sent before this process started.
    """
    digest = entry.what.digest
    found, package = world.pulls.fetched(bmc.host, digest), world.artefacts.package(digest)
    if found is None or package is None:
        return ""
    if found.last is None and not world.pulls.alone:
        return f"; this worker {_UNSEEN} at {bmc.host}, another one may have served it"
    if found.last is None:
        return f"; the BMC at {bmc.host} {_NEVER} {_origin(package.url)}, or refuses its certificate"
    when = f"{found.last:%H:%M:%S} UTC"
    if not found.bytes:
        return f"; the BMC at {bmc.host} has been fetching the package since {when}"
    share = "the whole package" if found.bytes >= package.size_bytes else "a part of the package and no more"
    return f"; the BMC at {bmc.host} fetched {share} ({found.bytes:,} of {package.size_bytes:,} bytes, until {when})"


def server_to_reach(world: World, entries: Sequence[Entry]) -> str:
    """Where the packages are that nobody came for, as scheme, host and port; empty where that is not the trouble."""
    for entry in entries:
        package = world.artefacts.package(entry.what.digest)
        if package is not None and _never_came(entry):
            return _origin(package.url)
    return ""


async def _push_now(world: World, entries: Sequence[Entry]) -> bool:
    """The last failed attempt with this version, of any of these classes, was a pull without a download that we saw."""
    wanted = {(one.what.component, one.what.version) for one in entries}
    history = await world.journal.history(entries[0].node)
    failed = [one for one in history if one.phase is Phase.FAILED and (one.what.component, one.what.version) in wanted]
    return bool(failed) and any(_NEVER in one.reason or _UNSEEN in one.reason for one in failed[-1].changes)


def _never_came(entry: Entry) -> bool:
    return any(_NEVER in change.reason for change in entry.changes)


def _origin(url: str) -> str:
    """The rest names the file, and whoever knows the name gets it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
