"""Firmware of a host, without the host."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp

from emulator.netboot.dhcp import Dhcp
from emulator.netboot.fetch import Fetcher
from emulator.netboot.identity import Identity
from emulator.netboot.programs import Firmware
from tests.emulator.boot_server import BootServer


def identity(arch: str = "x86_64", platform: str = "efi") -> Identity:
    uuid = "01234567-89ab-cdef-0123-456789abcdef"
    return Identity(uuid, "S1", "3C:EC:EF:00:0A:0B", "10.20.1.2", arch, platform, "Maker", "Model")


@asynccontextmanager
async def firmware(
    server: BootServer,
    *,
    host: Identity | None = None,
    boot_files: dict[str, str] | None = None,
    trusted: Sequence[str] | None = None,
) -> AsyncIterator[Firmware]:
    async with aiohttp.ClientSession() as client:
        yield Firmware(
            host or identity(),
            Dhcp(server.url, boot_files or {}),
            Fetcher(client, asyncio.Semaphore(8), lambda: None),
            lambda seconds: asyncio.sleep(min(seconds, 0.01)),
            trusted,
        )
