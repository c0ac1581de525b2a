"""The product's own inventory, as its daemon reads it: leases, sessions, pinned certificates, proven `$expand`."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from provisioner.bench.clients.bare_aiohttp import AT_ONCE
from provisioner.bench.remembered import Remembered
from provisioner.bench.targets import Target
from provisioner.clock import PacedClock
from provisioner.errors import BadInput, BmcError
from provisioner.leases.bmc_leases import BmcLeases
from provisioner.models.inventory import Inventory
from provisioner.models.secret import Credentials, Secret
from provisioner.redfish.bmcs import RedfishBmcs, RedfishSettings
from provisioner.redfish.tls import TlsMode, TlsPolicy

_NEW_PASSWORD = Secret("Bench-Passw0rd-2025")


def sweep_all(targets: Sequence[Target], fingerprints: dict[str, str]) -> list[Inventory]:
    """One inventory per BMC, kept until the end as the channels are. Raises `BadInput` when a BMC does not answer."""
    return asyncio.run(_sweep_all(targets, Remembered(fingerprints)))


def first_contact(targets: Sequence[Target]) -> tuple[tuple[Target, ...], dict[str, str]]:
    """Log in once, as a site does before any inventory: pins certificates and sets passwords that must be changed."""
    return asyncio.run(_first_contact(targets))


async def _sweep_all(targets: Sequence[Target], memory: Remembered) -> list[Inventory]:
    bmcs = _bmcs(targets, memory)
    gate = asyncio.Semaphore(AT_ONCE)

    async def read(target: Target) -> Inventory:
        async with gate, bmcs.open(target.address, target.credentials) as bmc:
            return await bmc.inventory()

    try:
        return await asyncio.gather(*(read(target) for target in targets))
    except BmcError as error:
        raise BadInput(f"an emulated BMC does not answer as it should: {error}") from error
    finally:
        await bmcs.close()


async def _first_contact(targets: Sequence[Target]) -> tuple[tuple[Target, ...], dict[str, str]]:
    memory = Remembered()
    bmcs = _bmcs(targets, memory)
    gate = asyncio.Semaphore(AT_ONCE)

    async def meet(target: Target) -> Target:
        async with gate, bmcs.open(target.address, target.credentials) as bmc:
            if not bmc.must_change_password:
                return target
            await bmc.change_password(target.credentials.username, _NEW_PASSWORD)
            return replace(target, credentials=Credentials(target.credentials.username, _NEW_PASSWORD))

    try:
        met = await asyncio.gather(*(meet(target) for target in targets))
    except BmcError as error:
        raise BadInput(f"an emulated BMC does not answer as it should: {error}") from error
    finally:
        await bmcs.close()
    return tuple(met), memory.fingerprints


def _bmcs(targets: Sequence[Target], memory: Remembered) -> RedfishBmcs:
    clock = PacedClock()
    policy = TlsPolicy(TlsMode.PIN if targets[0].tls else TlsMode.PLAIN)
    return RedfishBmcs(BmcLeases(memory, clock), memory, clock, settings=RedfishSettings(tls=policy))
