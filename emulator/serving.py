"""One process that is a whole fleet."""

import asyncio
import gc
import resource
import signal
import socket
from collections.abc import Mapping
from contextlib import closing

import aiohttp
import uvicorn

from emulator.admin.application import admin_application
from emulator.clock import Clock
from emulator.config import FleetConfig
from emulator.errors import ConfigError
from emulator.fault_rates import with_fault_rates
from emulator.listener import Listener, no_port, open_socket
from emulator.machine.board import open_board
from emulator.machine.machine import Machine
from emulator.machine.state_folder import StateFolder
from emulator.machine.surroundings import Surroundings
from emulator.netboot.dhcp import Dhcp
from emulator.redfish.resources import Resources
from emulator.redfish.router import Router
from emulator.redfish.routes import ROUTES
from emulator.redfish.service import RedfishService
from emulator.redfish.sushy_emulator import SushyEmulator

_FETCHES_AT_ONCE = 128
_IDLE_SECONDS = 2.0
"""An idle connection is used again up to then: servers close theirs after 5 s, and a request that meets it is lost."""


async def serve(fleet: FleetConfig) -> None:
    """Be all BMCs of `fleet` until SIGTERM or SIGINT. Raises ConfigError before anything has started."""
    _allow_connections()
    with open_socket(fleet.port) as listening, _open_admin(fleet.admin_port) as admin_socket:
        connector = aiohttp.TCPConnector(limit=_FETCHES_AT_ONCE, keepalive_timeout=_IDLE_SECONDS)
        async with aiohttp.ClientSession(connector=connector) as client:
            with closing(StateFolder(fleet.state_dir)) as folder:
                machines = _build(fleet, folder, client)
                await _live(machines, fleet, listening, admin_socket)


async def _live(
    machines: list[Machine],
    fleet: FleetConfig,
    listening: socket.socket,
    admin_socket: socket.socket,
) -> None:
    by_address = {machine.board.entry.address: machine for machine in machines}
    service = RedfishService(by_address, _resources(by_address))
    listener = Listener(listening, by_address, service, tls=fleet.tls)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    admin = await _start_admin(machines, fleet, admin_socket)
    for machine in machines:
        machine.start()
    listener.start()
    where = f"port {fleet.port}, admin http://127.0.0.1:{fleet.admin_port}"
    print(f"emulator ready: {len(machines)} BMCs on {where}", flush=True)  # noqa: T201  (its contract)
    await ended.wait()
    listener.close()
    admin.close()
    await asyncio.gather(*(machine.stop() for machine in machines))


def _resources(machines: Mapping[str, Machine]) -> Resources:
    behind = SushyEmulator(machines)
    return Resources(Router(ROUTES), behind.answer, behind.answers)


def _build(fleet: FleetConfig, folder: StateFolder, client: aiohttp.ClientSession) -> list[Machine]:
    clock = Clock(fleet.speed)
    bmcs = with_fault_rates(fleet).bmcs
    gc.disable()  # what is built here lives as long as the process
    around = Surroundings(Dhcp(fleet.boot_service, fleet.boot_files), fleet.agent, client)
    machines = [Machine(open_board(entry, clock, folder), around) for entry in bmcs]
    gc.enable()
    gc.freeze()
    return machines


def _allow_connections() -> None:
    """As many open files as the system allows: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _open_admin(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise ConfigError(no_port("admin_port", port, error)) from error
    return listening


async def _start_admin(machines: list[Machine], fleet: FleetConfig, listening: socket.socket) -> asyncio.Server:
    application = admin_application({machine.board.entry.name: machine for machine in machines}, fleet)
    config = uvicorn.Config(application, log_config=None, access_log=False, lifespan="off", ws="none")
    config.load()
    state = uvicorn.server.ServerState()
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: config.http_protocol_class(config, state, {}), sock=listening)  # type: ignore[call-arg]  # a protocol class or the name of one
