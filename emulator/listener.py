"""One listening socket for all of 127/8: a connection is accepted first, then its own address says which BMC it is."""

import asyncio
import ipaddress
import socket
import struct
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import structlog
from uvicorn import Config
from uvicorn.server import ServerState

from emulator.background import run_in_background
from emulator.certificate import Certificates
from emulator.errors import ConfigError
from emulator.http_protocol import BmcProtocol
from emulator.machine.machine import Machine
from emulator.redfish.service import RedfishService

_BACKLOG = 4096
_ACCEPTS_AT_ONCE = 64
_KEEP_ALIVE_SECONDS = 60
_HANDSHAKE_SECONDS = 30.0
_LISTENS = "0A"  # the state TCP_LISTEN in /proc/net/tcp
_log = structlog.get_logger()


def open_socket(port: int) -> socket.socket:
    """A socket that hears every address of the loopback interface and nothing else. Raises ConfigError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        listening.bind(("0.0.0.0", port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(no_port("port", port, error)) from error
    listening.settimeout(0)
    return listening


def no_port(field: str, port: int, error: OSError) -> str:
    """What to tell a person when the port that `field` of the fleet file names cannot be opened, with who holds it."""
    held = ", ".join(f"{address}:{port}" for address in _listening_at(port))
    found = f" (something listens at {held})" if held else ""
    option = f"fleet --{field.replace('_', '-')}"
    return f"{field} {port} cannot be opened: {error.strerror}{found}; end that, or take another one ({option})"


def _listening_at(port: int) -> list[str]:
    """The IPv4 addresses at which some process listens on `port`; none where the system does not say."""
    try:
        lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []
    ends = [line.split()[1].split(":") for line in lines if line.split()[3] == _LISTENS]
    numbers = sorted(int.from_bytes(bytes.fromhex(address), "little") for address, one in ends if int(one, 16) == port)
    return [str(ipaddress.ip_address(number)) for number in numbers]


class Listener:
    """Hands each connection to the BMC at the address that was connected to."""

    def __init__(
        self, listening: socket.socket, machines: Mapping[str, Machine], service: RedfishService, *, tls: bool = True
    ) -> None:
        """`machines` by the address of their BMC, at least one; without `tls` they speak plain HTTP."""
        self._tls = tls
        self._socket = listening
        self._machines = machines
        self._certificates = Certificates(next(iter(machines.values())).board.folder)
        self._handshakes: set[asyncio.Task[None]] = set()
        self._config = Config(
            service,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        )
        self._config.load()
        self._connections: dict[str, ServerState] = {}
        for address, machine in machines.items():
            machine.disconnect = lambda address=address: self._disconnect(address)  # type: ignore[misc]
            machine.read_certificate = partial(self._certificates.pem, machine.board.entry.name, address)
            machine.replace_certificate = partial(self._certificates.replace, machine.board.entry.name)

    def start(self) -> None:
        """Begin to accept; needs a running loop."""
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._accept)

    def close(self) -> None:
        """Accept no more and end the open connections."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()
        for address in list(self._connections):
            self._disconnect(address)

    def _accept(self) -> None:
        for _ in range(_ACCEPTS_AT_ONCE):
            try:
                connection, _peer = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            self._admit(connection)

    def _admit(self, connection: socket.socket) -> None:
        address = connection.getsockname()[0]
        machine = self._machines.get(address)
        if machine is None or not machine.bmc_answers or machine.board.faults.take("refuse-connections"):
            _reset(connection)
            return
        task = run_in_background(self._serve(connection, address, machine), f"connection to {address}")
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _serve(self, connection: socket.socket, address: str, machine: Machine) -> None:
        connection.settimeout(0)
        state = self._connections.setdefault(address, ServerState())
        try:
            context = self._certificates.context(machine.board.entry.name, address) if self._tls else None
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._protocol(machine, state),
                connection,
                ssl=context,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS if context else None,
            )
        except OSError as error:
            _log.debug("handshake failed", address=address, reason=str(error))
            connection.close()

    def _protocol(self, machine: Machine, state: ServerState) -> BmcProtocol:
        protocol = BmcProtocol(self._config, state, {})
        protocol.resets_reused = lambda: machine.board.faults.take("reused-connection-reset")
        return protocol

    def _disconnect(self, address: str) -> None:
        known = self._connections.get(address)
        for protocol in list(known.connections) if known else ():
            transport = getattr(protocol, "transport", None)
            if transport:
                transport.abort()


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
