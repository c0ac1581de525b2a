"""What is around every machine of a fleet: the network, and what runs on a host that has booted."""

import asyncio
from dataclasses import dataclass, field

import aiohttp

from emulator.config import AgentKind
from emulator.machine.pace import Pace
from emulator.netboot.dhcp import Dhcp


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`agent`: process runs what was booted; stand-in speaks for it. `client` fetches for all machines.

    `fetches_at_once` are files that hosts boot, `agents_at_once` requests of stand-ins. Waiting here, not in the
    client, halves the memory of 2,000 agents that begin together (30 to 15 KB each), and neither waits for the other.
    """

    dhcp: Dhcp
    agent: AgentKind
    client: aiohttp.ClientSession
    fetches_at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))
    agents_at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))
    pace: Pace = field(default_factory=Pace)
