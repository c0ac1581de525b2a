"""Looks at every node of a rollout: what has changed since its last step."""

import asyncio
from collections.abc import Mapping
from datetime import datetime

from provisioner.capabilities.jobs import Jobs
from provisioner.capabilities.rollouts import Turns
from provisioner.capabilities.world import World
from provisioner.errors import NotFound
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.node import Node
from provisioner.models.turn import Turn
from provisioner.rollout.inventory import is_leaving
from provisioner.rollout.observation import Failure, Observations
from provisioner.rollout.sight import Scheduled, Sight, facts_of
from provisioner.rollout.state import AT_REST, Rollout, UnitTask


class Eyes:
    """Looks for one pool."""

    def __init__(self, world: World, turns: Turns, scheduler: Jobs) -> None:
        """`scheduler`: of the pool."""
        self._world, self._turns, self._scheduler = world, turns, scheduler
        self._images: dict[ReleaseDigest, str] = {}

    async def look(self, rollout: Rollout, failures: Mapping[NodeName, Failure], since: datetime) -> Observations:
        """`failures`: of our own actions since the last step; `since`: of it."""
        names = rollout.plan.unit_of
        nodes = {node.name: node for node in await self._world.nodes.all() if node.name in names}
        turns, booted, heard, scheduled = await asyncio.gather(
            self._turns.of(nodes),
            self._turns.booted(nodes),
            self._turns.heard(nodes, since),
            self._scheduler.look(nodes),
        )
        images = await self._images_of(rollout, nodes, turns)
        changed = {}
        for name, node in nodes.items():
            task = rollout.tasks.get(names[name])
            in_hand = task is not None and task.state not in AT_REST
            sight = Sight(
                node=node,
                turn=turns.get(name),
                booted=booted.get(name),
                ticket=await self._world.boots.latest(name) if in_hand and node.hold is not None else None,
                scheduled=scheduled.get(name, Scheduled()),
            )
            facts = facts_of(sight, rollout.plan.spec.name, images, task, _failure(failures.get(name), task))
            if facts != rollout.facts.get(name):
                changed[name] = facts
        gone = {name for name in names if name not in nodes or is_leaving(nodes[name])}
        return Observations(changed=changed, heard=heard, removed=frozenset(gone - rollout.gone))

    async def _images_of(
        self, rollout: Rollout, nodes: Mapping[NodeName, Node], turns: Mapping[NodeName, Turn]
    ) -> Mapping[ReleaseDigest, str]:
        """The image of each release that may be met here; read once, as a digest never means another."""
        spec = rollout.plan.spec
        wanted = {spec.from_release, spec.to_release, *(node.release for node in nodes.values())}
        wanted |= {slot for turn in turns.values() for slot in (turn.blue, turn.green)}
        for digest in wanted - self._images.keys() - {None}:
            assert digest is not None, "taken away above"  # noqa: S101
            try:
                self._images[digest] = (await self._world.documents.release(digest)).image_digest
            except NotFound:
                continue
        return self._images


def _failure(failure: Failure | None, task: UnitTask | None) -> Failure | None:
    if failure is None or task is None:
        return None
    return failure if (failure.attempt, failure.generation) == (task.attempt, task.generation) else None
