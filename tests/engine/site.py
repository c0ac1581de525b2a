"""A store with nodes and a running engine, on either database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from provisioner.capabilities.world import World
from provisioner.clock import PacedClock, Wakefulness
from provisioner.engine import DbosEngine, EngineSettings
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, ExpectedNode, Node
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.engine.trials import Trials

CLOCK = PacedClock(speed=100.0)


@dataclass(frozen=True, slots=True)
class EngineSite:
    """What a trial works with."""

    store: Store
    engine: DbosEngine

    async def until(self, name: str, state: State, seconds: float = 20.0) -> Node:
        """Wait until a node is in a state; fails with what it is in instead."""
        node = await self.store.nodes.get(NodeName(name))
        for _ in range(int(seconds / 0.05)):
            node = await self.store.nodes.get(NodeName(name))
            if node.state is state:
                return node
            await asyncio.sleep(0.05)
        raise AssertionError(f"{name} is {node.state}, not {state}")


def world(store: Store) -> World:
    """Only what the end of an operation touches is there; the rest would fail loudly."""
    absent: Any = None
    return World(
        clock=CLOCK,
        nodes=store.nodes,
        events=store.events,
        documents=store.documents,
        vault=store.vault,
        boots=store.boots,
        burn_ins=store.burn_ins,
        journal=store.journal,
        logins=store.logins,
        certificates=store.certificates,
        bmcs=absent,
        hosts=store.hosts,
        releases=absent,
        artefacts=absent,
        public_url="http://127.0.0.1:1",
        awake=Wakefulness(),
    )


@asynccontextmanager
async def engine_site(
    folder: Path, url: str | None, trials: Trials, *, slot: str = "slot-0"
) -> AsyncIterator[EngineSite]:
    """`url` None: SQLite files in `folder`."""
    store = open_store(url or f"sqlite:///{folder / 'site.db'}", open_cipher(folder / "key"))
    settings = EngineSettings(
        url=url or f"sqlite:///{folder / 'engine.db'}", slot=slot, per_rack=2, poll=timedelta(seconds=0.05)
    )
    engine = DbosEngine(settings, CLOCK)
    await engine.launch(world(store), trials.operations())
    try:
        yield EngineSite(store, engine)
    finally:
        await engine.close()
        store.close()


def expected(count: int, rack: str = "r01") -> list[ExpectedNode]:
    """Nodes of one rack."""
    return [
        ExpectedNode(NodeName(f"{rack}-u{n:02}"), RackName(rack), n, BmcAddress(f"127.9.{n}.1"))
        for n in range(1, count + 1)
    ]
