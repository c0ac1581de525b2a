"""One process that is a whole fleet."""

import asyncio
import signal
import socket

import aiohttp
import uvicorn

from emulator.admin import admin_application
from emulator.clock import Clock
from emulator.config import FleetConfig
from emulator.errors import ConfigError
from emulator.listener import Listener, open_socket
from emulator.machine.board import open_board
from emulator.machine.machine import Machine
from emulator.redfish.router import Router
from emulator.redfish.routes import ROUTES
from emulator.redfish.service import RedfishService
from emulator.redfish.sushy_emulator import SushyEmulator

_FETCHES_AT_ONCE = 128


async def serve(fleet: FleetConfig) -> None:
    """Be all BMCs of `fleet` until SIGTERM or SIGINT. Raises ConfigError before anything has started."""
    with open_socket(fleet.port) as listening, _open_admin(fleet.admin_port) as admin_socket:
        connector = aiohttp.TCPConnector(limit=_FETCHES_AT_ONCE)
        async with aiohttp.ClientSession(connector=connector) as client:
            machines = _build(fleet, client)
            await _live(machines, fleet, listening, admin_socket)


async def _live(
    machines: list[Machine],
    fleet: FleetConfig,
    listening: socket.socket,
    admin_socket: socket.socket,
) -> None:
    by_address = {machine.board.entry.address: machine for machine in machines}
    service = RedfishService(by_address, Router(ROUTES), SushyEmulator(by_address).answer)
    listener = Listener(listening, by_address, service)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    admin = await _start_admin(machines, admin_socket)
    for machine in machines:
        machine.start()
    listener.start()
    where = f"port {fleet.port}, admin http://127.0.0.1:{fleet.admin_port}"
    print(f"emulator ready: {len(machines)} BMCs on {where}", flush=True)  # noqa: T201  (its contract)
    await ended.wait()
    listener.close()
    admin.close()
    await asyncio.gather(*(machine.stop() for machine in machines))


def _build(fleet: FleetConfig, client: aiohttp.ClientSession) -> list[Machine]:
    clock = Clock(fleet.speed)
    try:
        fleet.state_dir.mkdir(parents=True, exist_ok=True)
        return [Machine(open_board(entry, clock, fleet.state_dir), fleet.boot_service, client) for entry in fleet.bmcs]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{fleet.state_dir}: the state cannot be read: {error}") from error


def _open_admin(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        raise ConfigError(f"admin port {port} cannot be opened: {error.strerror}") from error
    return listening


async def _start_admin(machines: list[Machine], listening: socket.socket) -> asyncio.Server:
    application = admin_application({machine.board.entry.name: machine for machine in machines})
    config = uvicorn.Config(application, log_config=None, access_log=False, lifespan="off", ws="none")
    config.load()
    state = uvicorn.server.ServerState()
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: config.http_protocol_class(config, state, {}), sock=listening)  # type: ignore[call-arg]  # a protocol class or the name of one
