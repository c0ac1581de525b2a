"""Two network namespaces with a cable between them: one for our servers, one for who asks them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.requirements import need

SERVER, CLIENT = "boot0", "node0"
ADDRESS, NETWORK = "10.77.0.1", "10.77.0.0/24"
ASKER = Path(__file__).parent / "dhcp_client.py"


@dataclass(frozen=True)
class Namespaces:
    """`server` and `client`: processes that hold one each."""

    server: "subprocess.Popen[bytes]"
    client: "subprocess.Popen[bytes]"

    def in_server(self, *command: str | Path) -> list[str]:
        """The command, run where our servers are (10.77.0.1 on boot0)."""
        return ["nsenter", f"--target={self.server.pid}", "--net", *map(str, command)]

    def in_client(self, *command: str | Path) -> list[str]:
        """The command, run where nodes are."""
        return ["nsenter", f"--target={self.client.pid}", "--net", *map(str, command)]

    def ask(self, mac: str, *words: str) -> dict[str, Any]:
        """What the DHCP client of a firmware hears."""
        command = self.in_client(sys.executable, ASKER, CLIENT, "--mac", mac, *words)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def client_says(self, *command: str) -> str:
        """Run a command as a node; its output."""
        return subprocess.run(self.in_client(*command), capture_output=True, text=True, timeout=60, check=True).stdout


def need_namespaces(*programs: str) -> None:
    """Root, and these programs."""
    need(os.geteuid() == 0, "network namespaces need root")
    for program in ("nsenter", "unshare", "ip", *programs):
        need(shutil.which(program), f"{program} is not installed")


@contextmanager
def namespaces() -> Iterator[Namespaces]:
    """Both, until the end; nothing of them is seen outside."""
    with _holder() as server, _holder() as client:
        both = Namespaces(server, client)
        link = ("ip", "link", "add", SERVER, "type", "veth", "peer", "name", CLIENT, "netns", str(client.pid))
        for command in (
            both.in_server(*link),
            both.in_server("ip", "link", "set", "lo", "up"),
            both.in_server("ip", "address", "add", f"{ADDRESS}/24", "dev", SERVER),
            both.in_server("ip", "link", "set", SERVER, "up"),
            both.in_client("ip", "link", "set", "lo", "up"),
            both.in_client("ip", "link", "set", CLIENT, "up"),
        ):
            subprocess.run(command, check=True, capture_output=True, timeout=30)
        yield both


@contextmanager
def _holder() -> Iterator["subprocess.Popen[bytes]"]:
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    ours = Path("/proc/self/ns/net").stat().st_ino
    try:
        until(lambda: Path(f"/proc/{holder.pid}/ns/net").stat().st_ino != ours)
        yield holder
    finally:
        holder.kill()
        holder.wait(timeout=30)


def until(done: Callable[[], Any], seconds: float = 30) -> Any:
    """Wait for something true; what it is."""
    deadline = time.monotonic() + seconds
    while not (value := done()):
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)
    return value


def text_of(option: str) -> str:
    """A DHCP option that is text."""
    return bytes.fromhex(option).rstrip(b"\0").decode()


def children(pid: int) -> Sequence[int]:
    """The processes below one, by what the kernel says."""
    return [int(one.parent.name) for one in Path("/proc").glob("[0-9]*/stat") if _parent(one) == pid]


def _parent(stat: Path) -> int:
    try:
        return int(stat.read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0
