"""What is around every machine of a fleet: the network, and what runs on a host that has booted."""

from dataclasses import dataclass

import aiohttp

from emulator.config import AgentKind
from emulator.netboot.dhcp import Dhcp


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`agent`: process runs what was booted; stand-in speaks for it. `client` fetches for all machines."""

    dhcp: Dhcp
    agent: AgentKind
    client: aiohttp.ClientSession
