"""One listening socket for all of 127/8: a connection is accepted first, then its own address says which BMC it is."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Mapping

import structlog
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from emulator.certificate import tls_context
from emulator.errors import ConfigError
from emulator.machine.machine import Machine
from emulator.redfish.service import RedfishService

_BACKLOG = 4096
_ACCEPTS_AT_ONCE = 64
_KEEP_ALIVE_SECONDS = 60
_HANDSHAKE_SECONDS = 30.0
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
        raise ConfigError(f"port {port} of the BMCs cannot be opened: {error.strerror}") from error
    listening.settimeout(0)
    return listening


class Listener:
    """Hands each connection to the BMC at the address that was connected to."""

    def __init__(self, listening: socket.socket, machines: Mapping[str, Machine], service: RedfishService) -> None:
        """`machines` by the address of their BMC."""
        self._socket = listening
        self._machines = machines
        self._contexts: dict[str, ssl.SSLContext] = {}
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
        self._connections: dict[str, ServerState] = {address: ServerState() for address in machines}
        for address, machine in machines.items():
            machine.disconnect = lambda address=address: self._disconnect(address)  # type: ignore[misc]

    def start(self) -> None:
        """Begin to accept; needs a running loop."""
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._accept)

    def close(self) -> None:
        """Accept no more and end the open connections."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()
        for address in self._machines:
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
        task = asyncio.create_task(self._serve(connection, address, machine))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _serve(self, connection: socket.socket, address: str, machine: Machine) -> None:
        connection.settimeout(0)
        context = self._contexts.get(address)
        if context is None:
            context = tls_context(machine.board.directory, machine.board.entry.name, address)
            self._contexts[address] = context
        state = self._connections[address]
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: HttpToolsProtocol(self._config, state, {}),
                connection,
                ssl=context,
                ssl_handshake_timeout=_HANDSHAKE_SECONDS,
            )
        except OSError as error:
            _log.debug("handshake failed", address=address, reason=str(error))
            connection.close()

    def _disconnect(self, address: str) -> None:
        for protocol in list(self._connections[address].connections):
            transport = getattr(protocol, "transport", None)
            if transport:
                transport.abort()


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
