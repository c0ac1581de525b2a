"""What people may ask about rollouts and do to them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from profiles.release import Release
from provisioner.capabilities.rollouts import Rollouts
from provisioner.capabilities.world import World
from provisioner.errors import BadInput, Conflict, NotFound, Refused
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.node import Node
from provisioner.pool_settings import PoolSettings
from provisioner.promotion.edges import edge
from provisioner.rollout import people
from provisioner.rollout.inventory import Stock, stock
from provisioner.rollout.kept import Kept
from provisioner.rollout.plan import Plan, plan
from provisioner.rollout.spec import ReturnScope
from provisioner.rollout.state import GateKey, Rollout, Verdict
from provisioner.services.rollout_orders import Order, order_document, spec_of

_TRIES = 20
"""The controller and people change a rollout at once; each of them looks again."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and who is not in it."""

    release: Release
    plan: Plan
    left_out: Mapping[NodeName, str]
    broken: frozenset[str]


class RolloutDesk:
    """Plans rollouts and changes them as people ask."""

    def __init__(self, world: World, rollouts: Rollouts, pools: Mapping[str, PoolSettings]) -> None:
        """`pools`: by name."""
        self._world, self._rollouts, self._pools = world, rollouts, pools

    async def plan(self, order: Order) -> Planned:
        """What would happen; nothing is kept. Raises `NotFound`, `Conflict`, and `BadInput` with every reason."""
        release = await self._release(order.release)
        settings = self._pool(order.pool)
        if settings.keep_back:
            raise Conflict(f"pool {order.pool} is kept back (pools.{order.pool}.keep_back): take that away first")
        hardware = release.hardware_class
        if hardware.name != settings.hardware_class:
            raise Conflict(f"{release.name} is for {hardware.name}, and pool {order.pool} is {settings.hardware_class}")
        nodes = [node for node in await self._world.nodes.all() if settings.pool(order.pool).has(node)]
        running = await self._running(nodes)
        in_domain = hardware.nvlink_domain_size // hardware.gpu_count if hardware.gpu_count else 1
        bundles = {digest: one.firmware.name for digest, one in running.items()}
        found = stock(settings.pool(order.pool, max(1, in_domain)), nodes, bundles)
        _refuse_no_way(order, release, [running[digest] for digest in sorted({one.release for one in found.units})])
        rejected = [one for one in await self._rollouts.rejected() if one.release == release.digest]
        old = _most(found)
        spec = spec_of(order, settings, release, running[old] if old else None, self._world.clock)
        planned = plan(spec, found.units, broken=found.broken, rejected={one.hardware_class for one in rejected})
        return Planned(release, planned, found.left_out, frozenset(found.broken))

    async def create(self, order: Order, who: str, *, request: str = "") -> tuple[Kept, bool]:
        """Plan it and keep the plan; True when it is new. The same order under the same name is the same rollout."""
        asked = order_document(order)
        try:
            return self._same(await self._rollouts.get(order.name), asked), False
        except NotFound:
            pass
        planned = await self.plan(order)
        now = self._world.clock.now()
        await self._world.documents.put_release(planned.release)
        if order.supersedes is not None:
            change = partial(people.supersede, successor=order.name, now=now)
            await self._change(order.supersedes, "supersede", change, who, request=request)
        kept = Kept(people.draft(planned.plan), who, now, asked)
        spec = planned.plan.spec
        audit = AuditEntry(
            now, who, "rollout.create", order.name, before=spec.from_release, after=spec.to_release, request=request
        )
        if not await self._rollouts.add(kept, audit=audit):
            return self._same(await self._rollouts.get(order.name), asked), False
        return kept, True

    async def approve(self, name: str, who: str, *, request: str = "") -> Kept:
        """A person answers for it."""
        return await self._change(name, "approve", lambda one: people.approve(one, who), who, request=request)

    async def approve_irreversible(self, name: str, who: str, *, request: str = "") -> Kept:
        """Another person answers for firmware that cannot go back."""
        change = partial(people.approve_irreversible, who=who)
        return await self._change(name, "approve-irreversible", change, who, request=request)

    async def start(self, name: str, who: str, *, request: str = "") -> Kept:
        """Go."""
        return await self._change(name, "start", people.start, who, request=request)

    async def pause(self, name: str, who: str, *, request: str = "") -> Kept:
        """Take no further unit."""
        return await self._change(name, "pause", lambda one: people.pause(one, who), who, request=request)

    async def resume(self, name: str, who: str, *, request: str = "") -> Kept:
        """End a person's pause."""
        return await self._change(name, "resume", people.resume, who, request=request)

    async def abort(self, name: str, who: str, *, request: str = "") -> Kept:
        """Freeze it."""
        now = self._world.clock.now()
        return await self._change(name, "abort", lambda one: people.abort(one, who, now), who, request=request)

    async def send_back(self, name: str, who: str, scope: ReturnScope, *, request: str = "") -> Kept:
        """Bring units back to the old release."""
        seen = (await self._rollouts.get(name)).rollout
        if seen.closed_at is not None:
            await self._refuse_while_another_runs(seen)
        now = self._world.clock.now()
        change = partial(people.send_back, who=who, now=now, scope=scope)
        return await self._change(name, "return", change, who, request=request)

    async def decide(self, name: str, wave: int, verdict: Verdict, who: str, why: str, *, request: str = "") -> Kept:
        """Answer an inconclusive gate."""

        def change(rollout: Rollout) -> Rollout:
            return people.decide(rollout, GateKey(rollout.generation, wave), verdict, who, why)

        return await self._change(name, "decide", change, who, request=request)

    async def pardon(self, release: ReleaseDigest, hardware_class: str, who: str, *, request: str = "") -> None:
        """A person says that a release that came back may be offered again. Asked again, it changes nothing."""
        audit = AuditEntry(
            self._world.clock.now(), who, "rollout.pardon", hardware_class, before=release, request=request
        )
        await self._rollouts.pardon(release, hardware_class, audit=audit)

    async def _refuse_while_another_runs(self, rollout: Rollout) -> None:
        for other in await self._rollouts.unended():
            if other.pool == rollout.plan.spec.pool:
                raise Conflict(f"rollout {other.name} is at work in the same pool: let it end, or return that one")

    async def _change(
        self, name: str, verb: str, change: Callable[[Rollout], Rollout], who: str, *, request: str
    ) -> Kept:
        for _ in range(_TRIES):
            seen = await self._rollouts.get(name)
            now = change(seen.rollout)
            if now == seen.rollout:
                return seen
            at = self._world.clock.now()
            audit = AuditEntry(at, who, f"rollout.{verb}", name, request=request)
            kept = await self._rollouts.keep(seen, now, at, told=[f"{verb} by {who}"], audit=audit)
            if kept is not None:
                return kept
            await asyncio.sleep(0.05)
        raise Conflict(f"{name} changes all the time: try again")

    def _same(self, there: Kept, asked: dict[str, Any]) -> Kept:
        other = sorted(key for key in asked if asked[key] != there.request.get(key))
        if other:
            raise Conflict(
                f"there is a rollout {there.name} already, with other {' and '.join(other)}: choose another name"
            )
        return there

    def _pool(self, name: str) -> PoolSettings:
        found = self._pools.get(name)
        if found is None:
            raise NotFound(f"no pool is called {name}; there are {', '.join(sorted(self._pools)) or 'none'}")
        return found

    async def _release(self, name: str) -> Release:
        if name.startswith("sha256:"):
            return await self._world.documents.release(ReleaseDigest(name))
        try:
            return await asyncio.to_thread(self._world.releases.named, name)
        except BadInput as error:
            raise Conflict(str(error)) from error

    async def _running(self, nodes: Sequence[Node]) -> Mapping[ReleaseDigest, Release]:
        """Every release that they should run; each is read once."""
        digests = {node.release for node in nodes if node.release is not None}
        return {digest: await self._world.documents.release(digest) for digest in digests}


def _refuse_no_way(order: Order, release: Release, running: Sequence[Release]) -> None:
    """Every node of the pool has a way from what it runs."""
    findings = [("/release", f"from {old.name}: {why}") for old in running for why in edge(old, release).refusals]
    if findings:
        raise Refused(order.name, findings)


def _most(found: Stock) -> ReleaseDigest | None:
    """What most nodes of the units run."""
    counted: Counter[ReleaseDigest] = Counter()
    for unit in found.units:
        counted[unit.release] += len(unit.nodes)
    return min(counted, key=lambda one: (-counted[one], one), default=None)
