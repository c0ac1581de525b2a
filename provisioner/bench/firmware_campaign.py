"""`firstlight bench firmware --part campaign`: a pool of emulated trays through a five-component bundle."""

import json
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from provisioner.bench.line import light_profiles, serving, until_ready
from provisioner.bench.process import cpu_seconds, peak_kib
from provisioner.demo.rack import DemoPlan, emulated, prepare
from provisioner.errors import BadInput
from provisioner.models.campaign import CampaignState

_PERSONA, HARDWARE, RELEASE = "hgx-h100", "hgx-h100-8gpu", "hgx-h100-2025-1"
_TRAYS = 8
_PATIENCE_SECONDS = 3600.0
_CAMPAIGN = "bench"


@dataclass(frozen=True, slots=True)
class CampaignFigures:
    """One run. Seconds are real; memory is the peak of the daemon's resident set, the installation before included."""

    nodes: int
    components: int
    canary_seconds: float
    seconds: float
    nodes_per_minute: float
    requests_per_node: float
    daemon_peak_mib: float
    daemon_cpu_ms_per_node: float
    emulator_cpu_ms_per_node: float

    def figures(self) -> dict[str, float]:
        """What stands below its name."""
        return {name: value for name, value in asdict(self).items() if name != "nodes"}

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


def measure(nodes: int) -> CampaignFigures:
    """Install all with a bundle that leaves every version as it is, then bring them to the next. Raises `BadInput`."""
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder:
        data_dir = Path(folder)
        profiles = light_profiles(data_dir)
        plan = DemoPlan(
            data_dir, racks=-(-nodes // _TRAYS), trays=_TRAYS, speed=0, personas=(_PERSONA,), profiles=profiles
        )
        prepare(plan)
        _choose_stand_ins(data_dir / "fleet" / "fleet.yaml")
        choose_bare(data_dir, profiles, RELEASE, HARDWARE)
        with emulated(plan) as emulator:
            daemon = serving(data_dir)
            try:
                count = until_ready(data_dir / "firstlight.db", daemon)
                return _measured(data_dir, count, daemon, emulator.pid)
            finally:
                daemon.send_signal(signal.SIGTERM)
                daemon.wait(timeout=60)


def _choose_stand_ins(fleet: Path) -> None:
    """Agents inside the emulator: a thousand processes would take 10 GiB and the cores that are measured."""
    _write(fleet, {**yaml.safe_load(fleet.read_text(encoding="utf-8")), "agent": "stand-in"})


def choose_bare(data_dir: Path, profiles: Path, release: str, hardware_class: str) -> str:
    """Add a release like `release` whose bundle names no version, and let site.yaml choose it; its name."""
    like = yaml.safe_load((profiles / "releases" / f"{release}.yaml").read_text(encoding="utf-8"))
    bare = f"{release}-bare"
    bundle = {
        "name": bare,
        "description": "Leaves every version as it is.",
        "hardware_class": hardware_class,
        "policy": {"newer": "refuse", "unknown": "refuse"},
        "versions": {},
    }
    _write(profiles / "firmware" / f"{bare}.yaml", bundle)
    _write(profiles / "releases" / f"{bare}.yaml", {**like, "name": bare, "firmware": bare})
    site = yaml.safe_load((data_dir / "site.yaml").read_text(encoding="utf-8"))
    _write(data_dir / "site.yaml", {**site, "releases": {**site["releases"], hardware_class: bare}})
    return bare


def _write(path: Path, document: object) -> None:
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def _measured(data_dir: Path, nodes: int, daemon: "subprocess.Popen[bytes]", emulator: int) -> CampaignFigures:
    busy = cpu_seconds(daemon.pid), cpu_seconds(emulator)
    requests, started = _requests(data_dir), time.monotonic()
    order = {"name": _CAMPAIGN, "release": RELEASE, "per_rack": _TRAYS, "per_site": nodes, "canaries": 1}
    _ask(data_dir, "/v1/campaigns", order)
    canary = _until(data_dir, daemon, lambda seen: seen["counts"]["done"] > 0) - started
    seconds = _until(data_dir, daemon, lambda seen: seen["state"] == CampaignState.DONE) - started
    return CampaignFigures(
        nodes=nodes,
        components=5,
        canary_seconds=round(canary, 1),
        seconds=round(seconds, 1),
        nodes_per_minute=round(60 * nodes / seconds, 1),
        requests_per_node=round((_requests(data_dir) - requests) / nodes, 1),
        daemon_peak_mib=round(peak_kib(daemon.pid) / 1024, 1),
        daemon_cpu_ms_per_node=round(1000 * (cpu_seconds(daemon.pid) - busy[0]) / nodes, 1),
        emulator_cpu_ms_per_node=round(1000 * (cpu_seconds(emulator) - busy[1]) / nodes, 1),
    )


def _until(data_dir: Path, daemon: "subprocess.Popen[bytes]", done: Callable[[dict[str, Any]], bool]) -> float:
    """Wait until `done` says so of the campaign; the moment, by the monotonic clock."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(1.0)
        if daemon.poll() is not None:
            raise BadInput(f"the daemon ended with {daemon.returncode}: see {data_dir / 'firstlight.log'}")
        seen = _ask(data_dir, f"/v1/campaigns/{_CAMPAIGN}")
        if done(seen):
            return time.monotonic()
        if seen["state"] == CampaignState.STOPPED:
            raise BadInput(f"the campaign stopped: {seen['why']}; a bench needs a healthy rack")
    raise BadInput(f"the campaign has not ended after {_PATIENCE_SECONDS / 60:g} minutes")


def _ask(data_dir: Path, path: str, body: object = None) -> dict[str, Any]:
    """One request to the daemon's API as its administrator; POST where there is a body."""
    url, token = ((data_dir / name).read_text(encoding="utf-8").strip() for name in ("endpoint", "admin-token"))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return _exchange(urllib.request.Request(url + path, headers=headers), body)  # noqa: S310  our own daemon


def _requests(data_dir: Path) -> int:
    """How many requests all emulated BMCs together have answered."""
    fleet = yaml.safe_load((data_dir / "fleet" / "fleet.yaml").read_text(encoding="utf-8"))
    address = f"http://127.0.0.1:{fleet['admin_port']}/fleet"
    return int(_exchange(urllib.request.Request(address), None)["requests"])


def _exchange(request: urllib.request.Request, body: object) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=60) as answer:  # noqa: S310  see above
        return dict(json.load(answer))
