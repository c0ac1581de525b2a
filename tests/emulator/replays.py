"""`firstlight-emulator replay` with the recorded trees of real servers."""

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from emulator.testing import RunningBmc
from tests.checks.tree import ROOT
from tests.emulator.bmc_client import BmcClient
from tests.redfish.tree_server import MOCKUPS
from tests.requirements import need

SERVERS = (
    "dell-r750-idrac9",
    "gigabyte-h262-z63-megarac",
    "hpe-xl675d-a100-ilo5",
    "lenovo-sr670v2-xcc",
    "nvidia-bluefield3-dpu-bmc",
    "nvidia-dgx-h100",
    "nvidia-gb-nvlink-switch-tray",
    "nvidia-gb200-nvl-compute-tray",
    "supermicro-gb300",
    "supermicro-sys-821ge-tnhr",
)


@dataclass(frozen=True)
class Museum:
    clients: dict[str, BmcClient]
    admin_url: str

    def truth(self, name: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.admin_url}/bmcs/{name}", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@contextmanager
def replaying(servers: Sequence[str] = SERVERS, *, speed: int = 600, power: str = "Off") -> Iterator[Museum]:
    """The BMCs of these servers in a process of its own; skips, or fails in CI, where nothing was recorded."""
    need(MOCKUPS.is_dir(), f"{MOCKUPS} is absent: recorded trees are not part of this repository")
    port, admin_port = free_port(), free_port()
    command = [sys.executable, "-m", "emulator", "replay", *(str(MOCKUPS / server) for server in servers)]
    command += ["--speed", str(speed), "--power", power, "--boot-service", "http://127.0.0.1:9"]
    command += ["--port", str(port), "--admin-port", str(admin_port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(len(servers) + 1)]
        assert "emulator ready" in lines[-1], lines
        try:
            clients = dict(client_of(line, port) for line in lines[:-1])
            yield Museum(clients, f"http://127.0.0.1:{admin_port}")
        finally:
            process.terminate()
            process.wait(30)


def client_of(line: str, port: int) -> tuple[str, BmcClient]:
    """`name: https://address:port username password`, as replay says it."""
    name, url, username, password = line.split()
    address = url.removeprefix("https://").rpartition(":")[0]
    server = name.rstrip(":")
    return server, BmcClient(RunningBmc(server, address, port, server, "", "", username, password))


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])
