"""What a rollout asks for, done to nodes: each action looks first, acts where needed, and notes that it did."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from provisioner.capabilities.jobs import Jobs
from provisioner.capabilities.rollouts import Turns
from provisioner.capabilities.world import World
from provisioner.errors import Conflict, FirstlightError
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.turn import Right, Turn
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.inventory import SERVING
from provisioner.rollout.observation import Failure

_AT_ONCE = 32
"""Nodes that one worker acts on at once."""


class Hands:
    """Acts for one pool."""

    def __init__(self, world: World, turns: Turns, scheduler: Jobs) -> None:
        """`scheduler`: of the pool."""
        self._world, self._turns, self._scheduler = world, turns, scheduler
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._verbs: Mapping[Action, Callable[[Intent, Node], Awaitable[dict[str, object] | None]]] = {
            Action.CORDON: self._cordon,
            Action.DRAIN: self._drain,
            Action.FLIP: self._flip,
            Action.REBOOT: self._reboot,
            Action.OBSERVE: self._try_again,
            Action.CHECK: self._try_again,
            Action.BURN_IN: self._try_again,
            Action.LABEL: self._label,
            Action.QUARANTINE: self._quarantine,
        }

    async def act(self, intents: tuple[Intent, ...]) -> Mapping[NodeName, Failure]:
        """All of them, each node of each by itself; what did not work, and why. What was done already is left alone."""
        nodes = {node for intent in intents for node in intent.nodes}
        turns = await self._turns.of(nodes)
        jobs = [
            self._one(intent, node, turns.get(node))
            for intent in intents
            for node in intent.nodes
            if not _is_done(intent, turns.get(node))
        ]
        return {node: failure for node, failure in await asyncio.gather(*jobs) if failure is not None}

    async def _one(self, intent: Intent, node: NodeName, turn: Turn | None) -> tuple[NodeName, Failure | None]:
        async with self._places:
            try:
                await self._do(intent, node, turn)
            except FirstlightError as error:
                return node, Failure(intent.action, intent.attempt, intent.generation, str(error))
        return node, None

    async def _do(self, intent: Intent, name: NodeName, turn: Turn | None) -> None:
        if intent.action is Action.FORGET:
            await self._turns.give_back(name, intent)
            return
        node = await self._world.nodes.get(name)
        if intent.action is Action.RESERVE:
            await self._reserve(intent, node)
            return
        if turn is None or not await self._turns.has(name, _right(intent)):
            raise Conflict(f"{name} is not in hand of {intent.rollout}")
        await self._change(intent, node, turn)

    async def _change(self, intent: Intent, node: Node, turn: Turn) -> None:
        if intent.action is Action.UNCORDON:
            await self._give_back(intent, node, turn)
            return
        do = self._verbs.get(intent.action)
        if do is None:
            raise Conflict(f"{intent.action} is no step of its own here: the way to a release brings its firmware")
        changes = await do(intent, node)
        if not await self._turns.done(node.name, intent, **(changes or {})):
            raise Conflict(f"{node.name} is no longer in hand of {intent.rollout}")

    async def _cordon(self, intent: Intent, node: Node) -> dict[str, object]:
        await self._scheduler.cordon(node.name, _right(intent))
        return {"cordoned": True}

    async def _drain(self, intent: Intent, node: Node) -> None:
        waits = await self._scheduler.drain(node.name, _right(intent))
        if waits:
            await self._world.nodes.tell(node.name, f"its drain waits: {waits}", self._world.clock.now())

    async def _flip(self, intent: Intent, _node: Node) -> dict[str, object]:
        return {"active": intent.release}

    async def _label(self, intent: Intent, node: Node) -> dict[str, object]:
        await self._scheduler.label(node.name, intent.release)
        return {"label": intent.release}

    async def _reserve(self, intent: Intent, node: Node) -> None:
        if not await self._turns.reserve(node.name, intent, node.state, node.release):
            raise Conflict(f"{node.name} is in hand of another rollout: let that end")

    async def _reboot(self, intent: Intent, node: Node) -> None:
        """The node's own way to the release: once for each decision, whoever asks and however often."""
        decided = dict(zip(intent.nodes, intent.boot_ids, strict=True)).get(node.name, "")
        booted = (await self._turns.booted([node.name])).get(node.name)
        if booted is not None and f"g{booted.generation}" != decided:
            return
        at_rest = node.hold is None and node.state in SERVING
        ordered = booted is None or node.generation > booted.generation
        if node.release == intent.release and ordered and not at_rest:
            await self._try_again(intent, node)
            return
        right, now = _right(intent), self._world.clock.now()
        await self._scheduler.expect_reboot(node.name, right)
        reason = f"rollout {intent.rollout} gives it {intent.release[:19]}"
        if node.state is State.IN_PRODUCTION:
            await self._world.nodes.advance(
                node, State.MAINTENANCE, f"rollout {intent.rollout} takes it", now, right=right
            )
            node = await self._world.nodes.get(node.name)
        await self._world.nodes.desire(node.name, intent.release, reason, now, seen=node, right=right)
        await self._let_go(intent, await self._world.nodes.get(node.name))

    async def _try_again(self, intent: Intent, node: Node) -> None:
        """A hold ends with another attempt; the first one finds none of its own."""
        if intent.attempt > 1 or intent.action is Action.REBOOT:
            await self._let_go(intent, node)

    async def _let_go(self, intent: Intent, node: Node) -> None:
        if node.hold is not None:
            reason = f"rollout {intent.rollout} tries it again"
            await self._world.nodes.let_go(node, reason, self._world.clock.now(), right=_right(intent))

    async def _give_back(self, intent: Intent, node: Node, turn: Turn) -> None:
        """To the scheduler first: who sees it in production may count on it."""
        await self._scheduler.uncordon(node.name, _right(intent))
        if turn.came_from is State.IN_PRODUCTION and node.state is State.READY:
            reason = f"rollout {intent.rollout} gives it back"
            right = _right(intent)
            await self._world.nodes.advance(node, State.IN_PRODUCTION, reason, self._world.clock.now(), right=right)
        if not await self._turns.give_back(node.name, intent):
            raise Conflict(f"{node.name} is no longer in hand of {intent.rollout}")

    async def _quarantine(self, intent: Intent, node: Node) -> None:
        """It stays up and cordoned, for a person to look at."""
        if node.hold is not None:
            return
        instruction = Instruction(
            owner=Owner.IMAGE_OWNER,
            where=node.place,
            what=f"find out why neither release works on it (firstlight rollout show {intent.rollout}), "
            f"then: firstlight node release {node.name}",
            done_when="it is ready again; Firstlight then gives it back to the scheduler",
        )
        hold = Hold(f"in quarantine of rollout {intent.rollout}", instruction, self._world.clock.now())
        if not await self._world.nodes.hold(node, hold):
            raise Conflict(f"{node.name} has moved on meanwhile: look again")


def _right(intent: Intent) -> Right:
    return Right(intent.rollout, intent.epoch)


def _is_done(intent: Intent, turn: Turn | None) -> bool:
    """Giving back and forgetting leave nobody's turn; a drain is asked for until it is over."""
    if turn is None:
        return intent.action is Action.FORGET
    if intent.action in {Action.UNCORDON, Action.FORGET}:
        return turn.holder != intent.rollout
    if intent.action is Action.DRAIN:
        return False
    return turn.holder == intent.rollout and turn.effect == intent.effect
