"""Racks of emulated servers for the demo, in a data directory that a second run takes up again."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from provisioner.errors import BadInput
from provisioner.settings import Site, load_site

PERSONAS = ("hgx-h100", "dell-xe9680", "gb200-compute-tray")
RELEASES = {
    "hgx-h100-8gpu": "hgx-h100-2025-1",
    "dell-xe9680-8gpu": "dell-xe9680-2025-1",
    "gb200-compute-tray": "gb200-2025-1",
}
_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What to emulate. `faults`: (fault, node)."""

    data_dir: Path
    racks: int = 2
    trays: int = 8
    speed: float = 60.0
    personas: tuple[str, ...] = PERSONAS
    faults: tuple[tuple[str, str], ...] = ()
    port: int = 8410
    profiles: Path | None = None


def prepare(plan: DemoPlan) -> Site:
    """Write the fleet, its firmware packages and site.yaml, or find them there. Raises `BadInput`."""
    if importlib.util.find_spec("sushy_tools") is None:
        raise BadInput("the demo needs the emulator: install firstlight[emulator]")
    fleet = plan.data_dir / "fleet"
    if not (plan.data_dir / "site.yaml").exists():
        port = _free_port(plan.port)
        _write_fleet(plan, fleet, port)
        _emulator("firmware", "--out", str(plan.data_dir / "firmware"))
        (plan.data_dir / "site.yaml").write_text(_site(plan, port), encoding="utf-8")
    return load_site(plan.data_dir / "site.yaml")


@contextmanager
def emulated(plan: DemoPlan) -> Iterator[subprocess.Popen[str]]:
    """The emulator as a process of its own, until the end of the block. Raises `BadInput` when it cannot start."""
    command = [sys.executable, "-m", "emulator", "serve", "--config", str(plan.data_dir / "fleet" / "fleet.yaml")]
    for fault, node in plan.faults:
        command += ["--fault", f"{node}:{fault}"]
    with (plan.data_dir / "emulator.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if "emulator ready" not in line:
            process.wait(timeout=_START_SECONDS)
            said = (plan.data_dir / "emulator.log").read_text(encoding="utf-8").strip().splitlines()[-3:]
            raise BadInput("the emulator does not start: " + " ".join(said))
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=_START_SECONDS)


def _write_fleet(plan: DemoPlan, fleet: Path, port: int) -> None:
    fleet.mkdir(parents=True, exist_ok=True)
    arguments = {
        "--racks": plan.racks,
        "--trays": plan.trays,
        "--persona": ",".join(plan.personas),
        "--speed": plan.speed,
        "--port": _free_port(8443),
        "--admin-port": _free_port(8444),
        "--boot-service": f"http://127.0.0.1:{port}",
        "--out": fleet,
    }
    _emulator("fleet", *(str(word) for pair in arguments.items() for word in pair))


def _emulator(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "emulator", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput(done.stderr.strip() or done.stdout.strip())


def _site(plan: DemoPlan, port: int) -> str:
    site: dict[str, object] = {
        "name": "demo",
        "data_dir": ".",
        "listen": {"host": "127.0.0.1", "port": port},
        "expected": "fleet/expected.yaml",
        "firmware_dir": "firmware",
        "releases": RELEASES,
        "speed": plan.speed,
        "limits": {"per_rack": plan.trays},
    }
    if plan.profiles is not None:
        site["profiles"] = os.path.relpath(plan.profiles, plan.data_dir)
    return str(yaml.safe_dump(site, sort_keys=False))


def _free_port(wanted: int) -> int:
    """`wanted`, or any free one when something else listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
