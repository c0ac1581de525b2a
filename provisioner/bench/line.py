"""`firstlight bench line`: emulated servers from dark to ready, with durations at zero."""

import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from profiles.loader import SHIPPED
from provisioner.bench.process import cpu_seconds, peak_kib
from provisioner.demo.rack import DemoPlan, emulated, prepare
from provisioner.errors import BadInput
from provisioner.models.lifecycle import State

_TRAYS = 8
_PATIENCE_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class LineFigures:
    """One run. Seconds are real; CPU seconds are of the process alone; memory is the peak of the resident set."""

    nodes: int
    seconds: float
    nodes_per_minute: float
    steps: int
    steps_per_second: float
    daemon_peak_mib: float
    daemon_cpu_ms_per_node: float
    emulator_cpu_ms_per_node: float

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


def measure(nodes: int) -> LineFigures:
    """Run a whole site on SQLite, the daemon and the emulator as processes of their own. Raises `BadInput`."""
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        data_dir = Path(folder)
        plan = DemoPlan(data_dir, racks=-(-nodes // _TRAYS), trays=_TRAYS, speed=0, profiles=light_profiles(data_dir))
        prepare(plan)
        with emulated(plan) as emulator:
            started = time.monotonic()
            daemon = serving(data_dir)
            try:
                count = until_ready(data_dir / "firstlight.db", daemon)
                seconds = time.monotonic() - started
                return _figures(data_dir, count, seconds, daemon=daemon.pid, emulator=emulator.pid)
            finally:
                daemon.send_signal(signal.SIGTERM)
                daemon.wait(timeout=60)


def light_profiles(data_dir: Path) -> Path:
    """The shipped profiles with a burn-in that costs next to nothing: 200 of them share these cores."""
    folder = data_dir / "profiles"
    shutil.copytree(SHIPPED, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "schemas", "*.md"))
    for path in (folder / "burnin").glob("*.yaml"):
        plan = yaml.safe_load(path.read_text(encoding="utf-8"))
        for item in plan["items"]:
            if "mebibytes" in item["parameters"]:
                item["parameters"]["mebibytes"] = 1
        path.write_text(yaml.safe_dump(plan, sort_keys=False), encoding="utf-8")
    return folder


def serving(data_dir: Path) -> "subprocess.Popen[bytes]":
    """The daemon of this data directory, as a process of its own."""
    command = [sys.executable, "-m", "provisioner", "serve", "--config", str(data_dir / "site.yaml")]
    with (data_dir / "firstlight.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def until_ready(database: Path, daemon: "subprocess.Popen[bytes]") -> int:
    """Wait until every node is ready; how many there are."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if daemon.poll() is not None:
            raise BadInput(f"the daemon ended with {daemon.returncode}: see {database.parent / 'firstlight.log'}")
        states = _states(database)
        if states and set(states) == {State.READY}:
            return len(states)
        if states and State.HELD in states:
            raise BadInput(f"{states.count(State.HELD)} nodes are held: a bench needs a healthy rack")
    raise BadInput(f"not all nodes are ready after {_PATIENCE_SECONDS / 60:g} minutes")


def _states(database: Path) -> list[str]:
    if not database.exists():
        return []
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
    try:
        return [row[0] for row in connection.execute("SELECT state FROM nodes")]
    except sqlite3.OperationalError:
        return []  # not migrated yet
    finally:
        connection.close()


def _figures(data_dir: Path, nodes: int, seconds: float, *, daemon: int, emulator: int) -> LineFigures:
    connection = sqlite3.connect(f"file:{data_dir / 'engine.db'}?mode=ro", uri=True, timeout=30)
    steps = int(connection.execute("SELECT count(*) FROM operation_outputs").fetchone()[0])
    connection.close()
    return LineFigures(
        nodes=nodes,
        seconds=round(seconds, 1),
        nodes_per_minute=round(60 * nodes / seconds, 1),
        steps=steps,
        steps_per_second=round(steps / seconds, 1),
        daemon_peak_mib=round(peak_kib(daemon) / 1024, 1),
        daemon_cpu_ms_per_node=round(1000 * cpu_seconds(daemon) / nodes, 1),
        emulator_cpu_ms_per_node=round(1000 * cpu_seconds(emulator) / nodes, 1),
    )
