"""BMCs that announce themselves on the local segment (DSP0266 "Discovery"), asked in a process of its own.

The DMTF library that asks sets the socket timeout of its whole process.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

from provisioner.models.node import BmcAddress

SEARCH = (sys.executable, "-m", "provisioner.redfish.ssdp_search")


@dataclass(frozen=True, slots=True)
class SsdpSettings:
    """`interface` and `address` choose where to ask from; the system does when they are None."""

    seconds: int = 3
    port: int = 1900
    interface: str | None = None
    address: str | None = None
    grace_seconds: float = 10.0
    """Beyond the answers' time, for the process itself; it listens as long as answers come."""
    command: tuple[str, ...] = SEARCH


async def search(settings: SsdpSettings | None = None) -> frozenset[BmcAddress]:
    """Where BMCs say that they are; nothing when nobody answers or nobody can be asked."""
    chosen = settings or SsdpSettings()
    arguments = ["--seconds", str(chosen.seconds), "--port", str(chosen.port)]
    arguments += ["--interface", chosen.interface] if chosen.interface else []
    arguments += ["--address", chosen.address] if chosen.address else []
    process = await asyncio.create_subprocess_exec(
        *chosen.command, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(chosen.seconds * 10 + chosen.grace_seconds):
            output, _ = await process.communicate()
    except TimeoutError:
        return frozenset()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return addresses_in(output) if process.returncode == 0 else frozenset()


def addresses_in(output: bytes) -> frozenset[BmcAddress]:
    """The addresses in what the search printed: a JSON list of service root URLs (the AL header)."""
    try:
        urls = json.loads(output)
    except ValueError:
        return frozenset()
    found = (_address(url) for url in urls if isinstance(url, str)) if isinstance(urls, list) else ()
    return frozenset(address for address in found if address)


def _address(url: str) -> BmcAddress | None:
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return None
    return BmcAddress(parts.hostname, port) if parts.hostname else None
