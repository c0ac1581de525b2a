"""How a promotion goes on: what is known of it is gathered, its pure step decides, and what that says is kept.

Anybody may call it at any time, and be killed in the middle: a promotion changes only as it was seen, and its pointer
in the same transaction.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from images.digest import parse_digest
from images.statements.statement import PromotionDecision, Provenance, Statement
from profiles.release_check import check_release, refusals
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.world import World
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Movement
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.node import Node
from provisioner.models.promotion import Promotion, PromotionLine, PromotionState
from provisioner.promotion.edges import edge
from provisioner.promotion.facts import Evidence, Facts, PoolRelease
from provisioner.promotion.gates import approvers, judge
from provisioner.promotion.step import step

_STEPS = 10
"""From requested to applied it takes three."""


async def go_on(world: World, office: PromotionWorld, name: str, nodes: Sequence[Node]) -> Promotion:
    """Steps of one promotion, until it waits for something."""
    for _ in range(_STEPS):
        promotion = await office.promotions.get(name)
        if promotion.has_ended or not await _step(world, office, promotion, nodes):
            break
    return await office.promotions.get(name)


async def gather(world: World, office: PromotionWorld, promotion: Promotion, nodes: Sequence[Node]) -> Facts:
    """One look at everything that its gates ask about."""
    release = await world.documents.release(promotion.release)
    evidence = await office.statements.about(release.image_digest)
    soak = await office.soaks.of([promotion.release])
    record = await office.releases.record(promotion.release)
    reasons = check_release(release, office.compatibility, world.clock.now().date())
    return Facts(
        release=release,
        evidence=evidence,
        soak=soak[promotion.release],
        stops=tuple(await office.stops.stops(promotion.release)),
        misfits=tuple(one.text for one in refusals(reasons)),
        pool=await _pool(world, office, promotion, nodes),
        builders=frozenset({record.made_by} if record.made_by else ()) | frozenset(_builders(evidence)),
    )


async def sign_decisions(world: World, office: PromotionWorld) -> None:
    """A signed statement about each promotion that was applied or rejected, where the site has a key."""
    if not office.statements.can_sign:
        return
    for promotion in await office.promotions.undecided():
        release = await world.documents.release(promotion.release)
        subjects = {"release": parse_digest(release.digest), "image": parse_digest(release.image_digest)}
        statement = Statement(subjects=subjects, predicate=_decision(promotion))
        envelope = await office.statements.sign(statement)
        if envelope is not None:
            await office.promotions.keep(promotion, replace(promotion, decision=envelope), None)


async def _step(world: World, office: PromotionWorld, promotion: Promotion, nodes: Sequence[Node]) -> bool:
    """True when there may be more to do at once."""
    facts = await gather(world, office, promotion, nodes)
    pointer = await office.channels.pointer(promotion.channel, promotion.hardware_class)
    now = world.clock.now()
    gates = judge(promotion, facts, office.policies[promotion.channel], now)
    after = step(promotion, gates, now)
    if after.apply:
        movement = Movement(
            revision=1 if pointer is None else pointer.revision + 1,
            release=promotion.release,
            at=now,
            who=promotion.requester,
            reason=promotion.reason,
            promotion=promotion.id,
        )
        audit = AuditEntry(
            at=now,
            who=promotion.requester,
            what="promotion.apply",
            subject=promotion.id,
            before=None if pointer is None else pointer.release,
            after=promotion.release,
            evidence=tuple(envelope for gate in gates for envelope in gate.evidence),
        )
        return not await office.promotions.apply(promotion, after.promotion, movement, audit=audit)
    if after.promotion == promotion:
        return False
    moved = after.promotion.state is not promotion.state
    line = PromotionLine(now, _told(after.promotion)) if moved else None
    await office.promotions.keep(promotion, after.promotion, line)
    return moved


async def _pool_digests(office: PromotionWorld, promotion: Promotion, nodes: Sequence[Node]) -> Counter[ReleaseDigest]:
    """What nodes of the class run but those that another channel gives theirs, and what this channel gives now."""
    pointers = [one for one in await office.channels.pointers() if one.hardware_class == promotion.hardware_class]
    others = {one.release for one in pointers if one.channel is not promotion.channel}
    own = {one.release for one in pointers if one.channel is promotion.channel}
    running = Counter(
        node.release for node in nodes if node.hardware_class == promotion.hardware_class and node.release is not None
    )
    return Counter({one: running[one] for one in own | (set(running) - others)})


async def _pool(
    world: World, office: PromotionWorld, promotion: Promotion, nodes: Sequence[Node]
) -> tuple[PoolRelease, ...]:
    new = await world.documents.release(promotion.release)
    found = []
    for digest, count in sorted((await _pool_digests(office, promotion, nodes)).items()):
        old = await world.documents.release(digest)
        found.append(PoolRelease(old.name, digest, count, edge(old, new)))
    return tuple(found)


def _builders(evidence: Evidence) -> Iterator[str]:
    for one in evidence.signed:
        if isinstance(one.statement.predicate, Provenance):
            yield one.statement.predicate.builder


def _told(promotion: Promotion) -> str:
    if promotion.state is PromotionState.EXPIRED:
        return f"expired: {promotion.why}"
    shut = ", ".join(gate.name.replace("_", " ") for gate in promotion.gates if not gate.is_open)
    return promotion.state.replace("_", " ") + (f"; not yet open: {shut}" if shut else "")


def _decision(promotion: Promotion) -> PromotionDecision:
    applied = promotion.state is PromotionState.APPLIED
    return PromotionDecision(
        promotion=promotion.id,
        channel=promotion.channel,
        hardware_class=promotion.hardware_class,
        outcome="APPLIED" if applied else "REJECTED",
        requester=promotion.requester,
        approvers=approvers(promotion, frozenset()),
        evidence=tuple(envelope for gate in promotion.gates for envelope in gate.evidence),
        decided_on=promotion.ended_at or promotion.requested_at,
    )
