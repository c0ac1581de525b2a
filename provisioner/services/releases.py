"""What people may ask about releases: make one, and look at what there is."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from profiles.catalog import Catalog
from profiles.findings import did_you_mean
from profiles.models import ReleaseProfile
from profiles.release import Release
from profiles.release_check import ReleaseReason, check_release, refusals
from profiles.release_constraints import ReleaseConstraints
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.promotions import ReleaseRecord
from provisioner.capabilities.world import World
from provisioner.errors import BadInput, NotFound, Refused
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import ReleaseDigest
from provisioner.services.promotions import Person

Finding = tuple[str, str]
"""A JSON pointer into the request, and the text."""


@dataclass(frozen=True, slots=True)
class ReleaseOrder:
    """What a person wants: a release profile by name, or one that is written out. One of the two.

    `at`: where the request has it, as a JSON pointer.
    """

    profile: str | None = None
    written: ReleaseProfile | None = None
    constraints: ReleaseConstraints | None = None
    at: str = ""

    def pointer(self, field: str) -> str:
        """To one field of it, as near as the request goes."""
        return self.at if self.profile is not None else f"{self.at}/{field}"


@dataclass(frozen=True, slots=True)
class MadeRelease:
    """A release that is kept. `reasons`: what people should know of it; no refusals. `new`: by this request."""

    release: Release
    record: ReleaseRecord
    reasons: tuple[ReleaseReason, ...]
    new: bool = False


class ReleaseDesk:
    """Where releases are made and read."""

    def __init__(self, world: World, office: PromotionWorld, catalog: Catalog) -> None:
        """`catalog`: the profiles that names stand for."""
        self._world, self._office, self._catalog = world, office, catalog

    async def resolve(self, order: ReleaseOrder) -> tuple[Release, tuple[ReleaseReason, ...]]:
        """What it would be, and everything that is said of it; nothing is kept.

        Raises `Refused` where a name leads nowhere or an image is not built.
        """
        profile = self._profile(order)
        refused = list(_dangling(self._catalog, profile, order))
        refused += await self._unknown(order.constraints)
        image = self._catalog.images.get(profile.image)
        digest = ""
        if image is not None:
            try:
                digest = await asyncio.to_thread(self._office.images.digest_of, image)
            except BadInput as error:
                refused.append((order.pointer("image"), str(error)))
        if refused:
            raise Refused(profile.name, refused)
        release = _assembled(self._catalog, profile, digest, order.constraints)
        on = self._world.clock.now().date()
        return release, check_release(release, self._office.compatibility, on)

    async def make(self, order: ReleaseOrder, who: Person) -> MadeRelease:
        """Keep it. Equal content is the release that is there already.

        Raises `Refused` with everything that speaks against it.
        """
        release, reasons = await self.resolve(order)
        against = refusals(reasons)
        if against:
            raise Refused(release.name, [_pointed(one, order) for one in against])
        now, digest = self._world.clock.now(), ReleaseDigest(release.digest)
        audit = AuditEntry(now, who.name, "release.create", digest, after=digest, request=who.request)
        new = await self._office.releases.add(release, who.name, now, audit=audit)
        kept = await self._world.documents.release(digest)
        return MadeRelease(kept, await self._office.releases.record(digest), reasons, new)

    async def show(self, digest: ReleaseDigest) -> MadeRelease:
        """One that is kept, with what is said of it today. Raises `NotFound`."""
        release = await self._world.documents.release(digest)
        reasons = check_release(release, self._office.compatibility, self._world.clock.now().date())
        return MadeRelease(release, await self._office.releases.record(digest), reasons)

    def _profile(self, order: ReleaseOrder) -> ReleaseProfile:
        if order.written is not None:
            return order.written
        found = self._catalog.releases.get(order.profile or "")
        if found is None:
            hint = did_you_mean(order.profile or "", self._catalog.releases)
            raise Refused("release", [(order.at, f"there is no release profile {order.profile}; {hint}")])
        return found

    async def _unknown(self, constraints: ReleaseConstraints | None) -> list[Finding]:
        found = []
        for digest in constraints.from_releases if constraints else ():
            try:
                await self._world.documents.release(ReleaseDigest(digest))
            except NotFound as error:
                found.append(("/constraints/from_releases", f"{error}; make it first, or leave it out"))
        return found


def _dangling(catalog: Catalog, profile: ReleaseProfile, order: ReleaseOrder) -> Iterator[Finding]:
    """Names that lead nowhere."""
    known: Mapping[str, Mapping[str, object]] = {
        "hardware_class": catalog.hardware_classes,
        "image": catalog.images,
        "firmware": catalog.firmware_bundles,
        "bios": catalog.bios_profiles,
        "burn_in": catalog.burn_in_plans,
    }
    for field, names in known.items():
        name = getattr(profile, field)
        if name not in names:
            yield order.pointer(field), f"there is no {field.replace('_', ' ')} {name}; {did_you_mean(name, names)}"


def _assembled(
    catalog: Catalog, profile: ReleaseProfile, digest: str, constraints: ReleaseConstraints | None
) -> Release:
    return Release(
        name=profile.name,
        hardware_class=catalog.hardware_classes[profile.hardware_class],
        image=catalog.images[profile.image],
        image_digest=digest,
        firmware=catalog.firmware_bundles[profile.firmware],
        bios=catalog.bios_profiles[profile.bios],
        burn_in=catalog.burn_in_plans[profile.burn_in],
        constraints=constraints,
    )


def _pointed(reason: ReleaseReason, order: ReleaseOrder) -> Finding:
    text = reason.text if order.profile is None else f"{reason.field}: {reason.text}"
    return order.pointer(reason.field), text
