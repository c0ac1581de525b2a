"""Carries out what `decide` says, for every node, again and again. Any number of workers may do so at once."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from provisioner.capabilities.runs import Runs
from provisioner.capabilities.world import World
from provisioner.lifecycle.table import RULES
from provisioner.models.identifiers import NodeName, RunKey
from provisioner.models.node import Node
from provisioner.models.operation import Run
from provisioner.reconciler.decide import (
    Cancel,
    CountAsFailed,
    Decision,
    HoldIt,
    LookAgain,
    Start,
    current_key,
    decide,
)

_log = structlog.get_logger(__name__)

_STARTS_PER_PASS = 100
"""The engine starts about 130 runs a second; more would starve the runs that are there."""

_REST_PER_PASS = 5.0
"""A pass looks at every node: on a large site it must not take more than a sixth of the process."""
_SHORTEST_REST, _LONGEST_REST = 0.05, 2.0


@dataclass(slots=True)
class Reconciler:
    """`period`: real seconds between passes when nobody calls `wake`; `pace`: real seconds per second of limits."""

    world: World
    runs: Runs
    period: float
    pace: float = 1.0
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Something has changed: look soon."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled. A pass that fails is logged, and the next one starts from what is there then."""
        time = asyncio.get_running_loop().time
        while True:
            started = time()
            try:
                await self.once()
            except Exception:  # noqa: BLE001  the outermost handler of the loop
                _log.exception("reconciler_pass_failed")
            rest = min(_LONGEST_REST, max(_SHORTEST_REST, _REST_PER_PASS * (time() - started)))
            await asyncio.sleep(min(rest, self.period))
            try:
                await asyncio.wait_for(self._woken.wait(), self.period)
            except TimeoutError:
                continue
            self._woken.clear()

    async def once(self) -> int:
        """One pass over every node that may need something; how many decisions were carried out."""
        nodes = await self.world.nodes.active()
        by_node = await self._runs_of(nodes)
        done = starts = 0
        for node in nodes:
            decision = decide(node, tuple(by_node[node.name]), self.world.clock.now(), self.pace)
            starts += isinstance(decision, Start)
            if starts > _STARTS_PER_PASS:
                self.wake()
                break
            done += await self._acted(node, decision)
        return done

    async def _runs_of(self, nodes: Sequence[Node]) -> dict[NodeName, list[Run]]:
        active = await self.runs.active()
        seen = {run.id for run in active}
        keys = (current_key(node) for node in nodes)
        ended = await self.runs.find([key.id for key in keys if key is not None and key.id not in seen])
        by_node: dict[NodeName, list[Run]] = defaultdict(list)
        for run in (*active, *ended):
            by_node[RunKey.parse(run.id).node].append(run)
        return by_node

    async def _acted(self, node: Node, decision: Decision) -> bool:
        """One node's trouble is not the others': it is logged, and the next pass looks again."""
        try:
            return await self._act(node, decision)
        except Exception:  # noqa: BLE001  the outermost handler for one node
            _log.exception("node_not_reconciled", node=node.name)
            return False

    async def _act(self, node: Node, decision: Decision) -> bool:
        now = self.world.clock.now()
        match decision:
            case Start(key):
                await self.runs.start(key, node.rack if RULES[node.state].disruptive else None)
            case Cancel(runs):
                for run in runs:
                    await self.runs.cancel(run)
            case LookAgain():
                return await self.world.nodes.let_go(node, "looking again by itself", now)
            case CountAsFailed(reason, retry_at):
                return await self.world.nodes.failed(node, reason, now, retry_at)
            case HoldIt(hold):
                return await self.world.nodes.hold(node, hold)
            case _:
                return False
        return True
