"""What people may ask about promotions and channels, and do to them."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from profiles.release import Release
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.world import World
from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement, Pointer
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import GateName, Promotion, PromotionLine, Waiver
from provisioner.promotion import people
from provisioner.promotion.history import earlier
from provisioner.services.promoting import gather, go_on

_TRIES = 20
"""The loop and people change a promotion at once; each of them looks again."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a person wants. `release`: its digest."""

    channel: Channel
    release: ReleaseDigest
    reason: str


@dataclass(frozen=True, slots=True)
class Wish:
    """A gate to do without, why, and for how long."""

    gate: GateName
    reason: str
    lasts: timedelta


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, by which request."""

    name: str
    request: str = ""


class PromotionDesk:
    """Where people request promotions and decide about them."""

    def __init__(self, world: World, office: PromotionWorld) -> None:
        """What is asked for is carried out at once, as far as it goes; the loop does the rest."""
        self._world, self._office = world, office

    async def request(self, order: Order, who: Person) -> tuple[Promotion, bool]:
        """The promotion, and whether it is a new one: the same release requested again is the one that is open.

        Raises `NotFound`, and `Conflict` where the channel stands there already.
        """
        release = await self._world.documents.release(order.release)
        hardware = release.hardware_class.name
        if await self._office.channels.current(order.channel, hardware) == order.release:
            raise Conflict(f"{order.channel} of {hardware} stands at {order.release} already: there is nothing to do")
        await self._keep_image(release)
        now = self._world.clock.now()
        asked = Promotion(
            id=f"p-{secrets.token_hex(5)}",
            channel=order.channel,
            hardware_class=hardware,
            release=order.release,
            release_name=release.name,
            reason=order.reason,
            requester=who.name,
            requested_at=now,
            expires_at=now + self._office.policies[order.channel].expires_after,
        )
        audit = AuditEntry(now, who.name, "promotion.request", asked.id, after=order.release, request=who.request)
        there = await self._office.promotions.request(asked, audit=audit)
        return await self._go_on(there.id), there.id == asked.id

    async def approve(self, name: str, who: Person) -> Promotion:
        """A second person says yes. Raises `NotFound`, `Conflict`."""
        builders = await self._builders(name)

        def change(seen: Promotion, now: datetime) -> Promotion:
            return people.approve(seen, who.name, now, builders)

        return await self._change(name, change, "promotion.approve", who)

    async def reject(self, name: str, who: Person, reason: str) -> Promotion:
        """A person says no. Raises `NotFound`, `Conflict`."""
        return await self._change(
            name, lambda seen, now: people.reject(seen, who.name, now, reason), "promotion.reject", who
        )

    async def cancel(self, name: str, who: Person) -> Promotion:
        """Nobody wants it any more. Raises `NotFound`, `Conflict`."""
        return await self._change(name, lambda seen, now: people.cancel(seen, who.name, now), "promotion.cancel", who)

    async def waive(self, name: str, wish: Wish, who: Person) -> Promotion:
        """Ask to do without a gate, or confirm what another person has asked. Raises `NotFound`, `Conflict`."""

        def change(seen: Promotion, now: datetime) -> Promotion:
            asked = Waiver(wish.gate, wish.reason, who.name, now, now + wish.lasts)
            return people.waive(seen, asked, self._office.policies[seen.channel])

        return await self._change(name, change, "promotion.waive", who)

    async def roll_back(self, seen: Pointer, to: ReleaseDigest, reason: str, who: Person) -> Pointer:
        """Move a pointer back to a release of its history. Raises `Conflict` with those that it may be, `NotFound`."""
        place = (seen.channel, seen.hardware_class)
        history = await self._office.channels.history(*place)
        allowed = earlier(history)
        if to == seen.release:
            return seen
        if to not in allowed:
            names = ", ".join(allowed) or "none: nothing stood there before"
            raise Conflict(f"{to} is not an earlier release of {'/'.join(place)}; these are: {names}")
        await self._keep_image(await self._world.documents.release(to))
        now = self._world.clock.now()
        movement = Movement(seen.revision + 1, to, now, who.name, reason, None)
        subject = f"{seen.channel}/{seen.hardware_class}"
        audit = AuditEntry(now, who.name, "channel.rollback", subject, seen.release, to, request=who.request)
        if not await self._office.channels.roll_back(seen, movement, audit=audit):
            raise Conflict(f"{subject} has moved since it was seen: read it again")
        after = await self._office.channels.pointer(*place)
        if after is None:
            raise NotFound(f"{subject} stands nowhere")
        return after

    async def _keep_image(self, release: Release) -> None:
        """Whoever points to a release makes sure first that nodes could boot it."""
        try:
            await asyncio.to_thread(self._office.images.keep, release.image_digest)
        except NotFound as error:
            again = f"firstlight image build {release.image.name}, and firstlight release create"
            raise Conflict(f"{release.name} ({release.digest[:19]}) cannot be booted: {error}; {again}") from error

    async def _builders(self, name: str) -> frozenset[str]:
        promotion = await self._office.promotions.get(name)
        return (await gather(self._world, self._office, promotion, ())).builders

    async def _change(
        self, name: str, change: Callable[[Promotion, datetime], Promotion], what: str, who: Person
    ) -> Promotion:
        for _ in range(_TRIES):
            seen = await self._office.promotions.get(name)
            now = self._world.clock.now()
            after = change(seen, now)
            if after == seen:
                return seen
            audit = AuditEntry(now, who.name, what, name, after=seen.release, request=who.request)
            line = PromotionLine(now, _told(what, after, who.name))
            if await self._office.promotions.keep(seen, after, line, audit=audit):
                return await self._go_on(name)
        raise Conflict(f"{name} changes all the time: try again")

    async def _go_on(self, name: str) -> Promotion:
        return await go_on(self._world, self._office, name, await self._world.nodes.all())


def _told(what: str, after: Promotion, who: str) -> str:
    if after.has_ended:
        return after.why
    if what != "promotion.waive":
        return f"approved by {who}"
    by_time = sorted(after.waivers, key=lambda one: (one.confirmed_by == who, one.at))
    gate = by_time[-1].gate.replace("_", " ")
    return f"{who} {'confirms' if by_time[-1].confirmed_by else 'asks for'} a waiver of {gate}"
