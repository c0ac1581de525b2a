"""Builds of images that people ask for over the API."""

import secrets
from dataclasses import dataclass

from profiles.catalog import Catalog
from profiles.findings import did_you_mean
from provisioner.capabilities.clock import Clock
from provisioner.capabilities.operations import Operations, order_of
from provisioner.errors import NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.long_operation import LongOperation

BUILD = "build"


@dataclass(frozen=True, slots=True)
class BuildOrder:
    """`update`: choose packages anew; `level`: how hard the root is compressed."""

    profile: str
    update: bool
    level: str


async def order(
    operations: Operations, catalog: Catalog, clock: Clock, asked: BuildOrder, *, who: str, request: str = ""
) -> LongOperation:
    """Ask for a build; one that was asked for in the same way and has not ended is the same. Raises `NotFound`."""
    if asked.profile not in catalog.images:
        raise NotFound(f"there is no image {asked.profile}; {did_you_mean(asked.profile, catalog.images)}")
    key = f"{asked.profile} {asked.level} {'update' if asked.update else 'as locked'}"
    what = order_of(BUILD, key, asked.profile, who, profile=asked.profile, update=asked.update, level=asked.level)
    name, now = f"build-{secrets.token_hex(8)}", clock.now()
    audit = AuditEntry(now, who, "build.order", name, evidence=(asked.profile,), request=request)
    return await operations.add(LongOperation(name, what, now, now), audit=audit)


async def cancel(operations: Operations, name: str, clock: Clock, *, who: str, request: str = "") -> LongOperation:
    """End it as soon as can be; one that has ended stays as it is. Raises `NotFound`."""
    now = clock.now()
    return await operations.cancel(name, now, audit=AuditEntry(now, who, "operation.cancel", name, request=request))
