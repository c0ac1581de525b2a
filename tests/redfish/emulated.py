"""Emulated servers over HTTPS, for tests of what they are asked: logins, packages, faults for a while."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from aiohttp import web

from emulator.package import Header, build_package
from emulator.persona.load import load_persona
from emulator.testing import EmulatedFleet, RunningBmc
from provisioner.errors import LoginRefused
from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import Task
from provisioner.models.node import BmcAddress
from provisioner.models.package import Package
from provisioner.models.secret import Credentials, Secret
from provisioner.models.update import UpdateOrder
from provisioner.redfish.bmc import RedfishBmc
from provisioner.redfish.timeouts import Timeouts
from tests.redfish.site import Site

NEW = Secret("A-new-passw0rd-77")
TIMEOUTS = Timeouts(connect_seconds=5.0, read_seconds=10.0)
PERSONAS = (
    "hgx-h100",
    "dell-xe9680",
    "gb200-compute-tray",
    "bluefield-3",
    "dgx-h100",
    "hgx-b200",
    "hpe-xl675d",
    "lenovo-sr670v2",
    "nvlink-switch-tray",
)
INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"
GOING_ON = frozenset({"New", "Starting", "Running", "Pending"})


def address(one: RunningBmc) -> BmcAddress:
    """Where it answers."""
    return BmcAddress(one.address, one.port)


def label(one: RunningBmc) -> Credentials:
    """As printed on it."""
    return Credentials(one.username, Secret(one.password))


@asynccontextmanager
async def ours(site: Site, one: RunningBmc) -> AsyncIterator[RedfishBmc]:
    """Logged in with a password that is ours: GB200 insists on a new one, for the others the label's is good enough."""
    try:
        opening = site.bmcs.open(address(one), label(one))
        opened = await opening.__aenter__()
        must_change = opened.must_change_password
        if must_change:
            await opened.change_password(one.username, NEW)
        await opening.__aexit__(None, None, None)
        credentials = Credentials(one.username, NEW) if must_change else label(one)
    except LoginRefused:
        credentials = Credentials(one.username, NEW)
    async with site.bmcs.open(address(one), credentials) as again:
        yield again


async def until(done: Callable[[], Any], seconds: float = 20.0) -> None:
    """Wait for the emulator's own truth."""
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(done):  # noqa: ASYNC110 - the emulator is another process
            await asyncio.sleep(0.05)


async def finished(bmc: RedfishBmc, uri: TaskUri) -> Task:
    """Look until it does not run any more."""
    async with asyncio.timeout(20):
        while (task := await bmc.task(uri)).state in GOING_ON:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # the BMC is another process
    return task


@asynccontextmanager
async def files(folder: Path) -> AsyncIterator[str]:
    """A web server for the BMC to fetch from."""
    app = web.Application()
    app.router.add_static("/", folder)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@dataclass(frozen=True, slots=True)
class Flashable:
    """A component class of one server that its BMC need not restart for, and a package for it."""

    name: str
    persona: str
    parts: tuple[str, ...]
    """Inventory ids."""
    version: str
    path: Path

    def order(self, url: str, *, parts: int | None = 1, **more: Any) -> UpdateOrder:
        """For so many of the parts; None: without Targets. `url` is where `path` is served."""
        targets = None if parts is None else tuple(f"{INVENTORY}/{part}" for part in self.parts[:parts])
        package = Package(self.path, f"{url}/{self.path.name}", self.path.stat().st_size)
        return UpdateOrder(package, targets, **more)

    def flashed(self, fleet: EmulatedFleet) -> int:
        """How often any of the parts was flashed, by the emulator's own truth."""
        flashes = fleet.truth(self.name)["flashes"]
        return sum(sum(flashes.get(part, {}).values()) for part in self.parts)


def flashable(fleet: EmulatedFleet, one: RunningBmc, folder: Path) -> Flashable:
    """The first class of the persona that another event than a restart of the BMC activates."""
    persona = load_persona(one.persona)
    slots = [slot for slot in persona.slots.values() if slot.updateable]
    kind = next(one.component for one in slots if persona.components[one.component].activation != "bmc_reset")
    keys = [slot.key for slot in slots if slot.component == kind]
    listed = [part for part in fleet.truth(one.name)["firmware"] if any(fnmatchcase(part, key) for key in keys)]
    version = persona.components[kind].newest
    path = folder / f"{one.name}.fw"
    path.write_bytes(build_package(Header(kind, one.persona, version), 50_000))
    return Flashable(one.name, one.persona, tuple(listed), version, path)


@contextmanager
def faulty(fleet: EmulatedFleet, name: str, fault: str, **arguments: Any) -> Iterator[None]:
    """One fault, for a while."""
    fleet.set_fault(name, fault, arguments)
    try:
        yield
    finally:
        fleet.clear_fault(name, fault)
