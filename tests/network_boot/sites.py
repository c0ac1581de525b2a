"""A daemon that runs in a network namespace, as a site with a boot network does."""

import json
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.network_boot.namespace import ADDRESS, NETWORK, SERVER, Namespaces, until

PORT = 8410
URL = f"http://{ADDRESS}:{PORT}"
RANGE = {"network": NETWORK, "first": "10.77.0.50", "last": "10.77.0.99", "router": ADDRESS, "lease": "2m"}


def network_boot(mode: str, **more: Any) -> dict[str, Any]:
    """As site.yaml has it."""
    ranges = {"ranges": [RANGE]} if mode == "full" else {}
    return {"dhcp": mode, "interfaces": [SERVER], **ranges, **more}


def write_site(folder: Path, boot: dict[str, Any], **more: Any) -> Path:
    """site.yaml without nodes."""
    path = folder / "site.yaml"
    listen = {"host": ADDRESS, "port": PORT}
    path.write_text(
        yaml.safe_dump({"name": "trial", "data_dir": "data", "listen": listen, "network_boot": boot, **more})
    )
    return path


@dataclass
class Daemon:
    """`firstlight serve` in the namespace of the servers."""

    net: Namespaces
    config: Path
    process: "subprocess.Popen[bytes]"

    @property
    def log(self) -> str:
        """Everything that it has said."""
        return self.config.with_name("daemon.log").read_text()

    @property
    def dhcp(self) -> Path:
        """The folder of its DHCP server."""
        return self.config.parent / "data" / "dhcp"

    def ask(self, path: str) -> Any:
        """GET as the admin."""
        token = (self.config.parent / "data" / "admin-token").read_text().strip()
        command = ("curl", "-sS", "-f", "-H", f"Authorization: Bearer {token}", urllib.parse.urljoin(URL, path))
        done = subprocess.run(self.net.in_server(*command), capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)

    def stop(self) -> None:
        """SIGTERM."""
        self.process.terminate()
        self.process.wait(timeout=60)

    def said(self, event: str) -> int:
        """How often."""
        return sum(event in line for line in self.log.splitlines())


@contextmanager
def daemon(net: Namespaces, config: Path) -> Iterator[Daemon]:
    """Up, with its API and its DHCP server."""
    command = net.in_server(sys.executable, "-m", "provisioner", "serve", "--config", config)
    with config.with_name("daemon.log").open("ab") as log:
        running = Daemon(net, config, subprocess.Popen(command, stdout=log, stderr=log))
    try:
        until(lambda: _is_up(running), 60)
        yield running
    finally:
        running.process.kill()
        running.process.wait(timeout=30)


def _is_up(running: Daemon) -> bool:
    assert running.process.poll() is None, running.log
    probe = running.net.in_server("curl", "-s", "-f", "-o", "/dev/null", f"{URL}/healthz")
    return subprocess.run(probe, timeout=30).returncode == 0 and running.said("dhcp_server_said") > 0


def refused(net: Namespaces, config: Path, *words: str) -> str:
    """What `firstlight serve` says that starts nothing."""
    command = net.in_server(sys.executable, "-m", "provisioner", "serve", "--config", config, *words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr
