"""A whole site as its users run it: the emulator, one or two daemons, the API with its token."""

import json
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from emulator.config import AgentKind
from emulator.testing import Bmc, EmulatedFleet
from provisioner.bench.line import light_profiles
from provisioner.demo.rack import RELEASES

_RELEASES = {**RELEASES, "hpe-xl675d-8gpu": "hpe-xl675d-2026-1"}
_ROOM = 600.0
"""Seconds that a busy machine may need for what takes ten on an idle one."""


@dataclass(slots=True)
class Site:
    """`folder` holds everything; `port` is the API's."""

    folder: Path
    fleet: EmulatedFleet
    port: int
    daemons: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Of the API."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, config: str = "site.yaml") -> "subprocess.Popen[bytes]":
        """One daemon, as a process of its own; does not wait."""
        command = [sys.executable, "-m", "provisioner", "serve", "--config", str(self.folder / config)]
        with (self.folder / "daemon.log").open("ab") as log:
            daemon = subprocess.Popen(command, stdout=log, stderr=log)
        self.daemons.append(daemon)
        return daemon

    def second_worker(self) -> str:
        """A configuration for one more worker: its own port, the same address for nodes and BMCs."""
        config = yaml.safe_load((self.folder / "site.yaml").read_text())
        config |= {"listen": {"host": "127.0.0.1", "port": _free_port()}, "public_url": self.url}
        (self.folder / "second.yaml").write_text(yaml.safe_dump(config))
        return "second.yaml"

    def kill(self, daemon: "subprocess.Popen[bytes]") -> None:
        """kill -9."""
        daemon.kill()
        daemon.wait(timeout=30)

    def stop(self) -> None:
        """SIGTERM to every daemon, then the emulator."""
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGCONT)
                daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(timeout=60)
        self.fleet.stop()

    def ask(self, path: str, method: str = "GET", body: object = None) -> Any:
        """One API request as the admin; raises URLError while nobody listens."""
        token = (self.folder / "admin-token").read_text().strip()
        request = urllib.request.Request(f"{self.url}{path}", method=method)
        request.add_header("Authorization", f"Bearer {token}")
        if method == "POST":
            request.add_header("Idempotency-Key", str(uuid.uuid4()))
        data = None
        if body is not None:
            request.add_header("Content-Type", "application/json")
            data = json.dumps(body).encode()
        with urllib.request.urlopen(request, data=data, timeout=30) as answer:
            return json.load(answer)

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Every node by name; empty while the API is away."""
        try:
            return {one["name"]: one for one in self.ask("/v1/nodes?limit=500")["nodes"]}
        except (OSError, urllib.error.URLError):
            return {}

    def until(
        self, done: Callable[[dict[str, dict[str, Any]]], bool], seconds: float = _ROOM
    ) -> dict[str, dict[str, Any]]:
        """Wait until `done` says so of the nodes; fails with their states and the log's end."""
        deadline = time.monotonic() + seconds
        nodes: dict[str, dict[str, Any]] = {}
        while time.monotonic() < deadline:
            nodes = self.nodes()
            if nodes and done(nodes):
                return nodes
            time.sleep(0.3)
        states = {name: (one["state"], one.get("hold")) for name, one in nodes.items()}
        raise AssertionError(f"{states}\n{(self.folder / 'daemon.log').read_text()[-3000:]}")

    def until_settled(self, seconds: float = _ROOM) -> dict[str, dict[str, Any]]:
        """Every node is ready or held."""
        return self.until(lambda nodes: all(one["state"] in {"ready", "held"} for one in nodes.values()), seconds)

    def history(self, name: str) -> list[dict[str, Any]]:
        """The events of a node, oldest first."""
        events: list[dict[str, Any]] = self.ask(f"/v1/nodes/{name}/history")["events"]
        return events

    def flashed_twice(self) -> list[str]:
        """Component versions that a device took more than once."""
        return [
            f"{bmc.name}: {item} {version} x{count}"
            for bmc in self.fleet.bmcs
            for item, versions in self.fleet.truth(bmc.name)["flashes"].items()
            for version, count in versions.items()
            if count > 1
        ]


@contextmanager
def site(
    folder: Path,
    bmcs: list[Bmc],
    *,
    database_url: str | None = None,
    speed: float = 0.0,
    agent: AgentKind = "process",
    change: Callable[[dict[str, Any]], None] = lambda _: None,
) -> Iterator[Site]:
    """The emulator runs, no daemon does yet. `change` may edit the expected list before it is written."""
    port = _free_port()
    fleet = EmulatedFleet(
        bmcs, boot_service=f"http://127.0.0.1:{port}", speed=speed, directory=folder / "fleet", agent=agent
    )
    subprocess.run(
        [sys.executable, "-m", "emulator", "firmware", "--out", str(folder / "firmware")],
        check=True,
        capture_output=True,
    )
    expected = yaml.safe_load(fleet.expected_path.read_text())
    change(expected)
    fleet.expected_path.write_text(yaml.safe_dump(expected))
    config = {
        "name": "trial",
        "data_dir": ".",
        "listen": {"host": "127.0.0.1", "port": port},
        "expected": "fleet/expected.yaml",
        "profiles": str(light_profiles(folder)),
        "firmware_dir": "firmware",
        "releases": _RELEASES,
        "speed": speed,
        **({"database_url": database_url} if database_url else {}),
    }
    (folder / "site.yaml").write_text(yaml.safe_dump(config))
    fleet.start()
    running = Site(folder, fleet, port)
    try:
        yield running
    finally:
        running.stop()


def _free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


def moments(seed: int, count: int, within_seconds: float) -> list[float]:
    """Random waits before each kill, the same ones for the same seed."""
    chance = random.Random(seed)
    return [chance.uniform(0.3, within_seconds) for _ in range(count)]
