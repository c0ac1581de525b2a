"""An emulator for tests: a fleet in a process of its own, on ports and addresses that nothing else uses.

With pytest: `pytest_plugins = ["emulator.testing"]` brings the fixtures of pytest_plugin.py.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from emulator.config import AgentKind, BmcEntry, FaultRate, FaultSetting
from emulator.errors import EmulatorError
from emulator.fleet import Settings, expected_nodes, invent, write_fleet
from emulator.racks import Plan

_READY_SECONDS = 60.0

pytest_plugins = ("emulator.pytest_plugin",)  # pytest takes this up; nothing here needs pytest


@dataclass(frozen=True, slots=True)
class Bmc:
    """A BMC to start: a persona and what is wrong with it. `power` is how the host is found, `installed` the
    operating system on its disk.
    """

    persona: str = "hgx-h100"
    faults: tuple[FaultSetting, ...] = ()
    power: str = "Off"
    installed: str = ""


@dataclass(frozen=True, slots=True)
class RunningBmc:
    """A BMC that answers at `url`, with the credentials of its label."""

    name: str
    address: str
    port: int
    persona: str
    serial: str
    uuid: str
    username: str
    password: str

    @property
    def url(self) -> str:
        """`https://127.x.y.z:port`."""
        return f"https://{self.address}:{self.port}"


class EmulatedFleet:
    """`with EmulatedFleet([Bmc(), Bmc("dell-xe9680")]) as fleet: ...`; one rack, BMCs named r01-u01, r01-u02, ...

    `plan` instead of `bmcs`: several racks, which share power; its network does not count. Speed 0: durations are zero.
    `directory` holds fleet.yaml, expected.yaml, the state and log.txt; a temporary one when it is None.
    The state stays when the fleet is stopped and started again, unless `keep_state` is false.
    """

    def __init__(
        self,
        bmcs: Sequence[Bmc] = (Bmc(),),
        *,
        plan: Plan | None = None,
        boot_service: str = "http://127.0.0.1:9",
        boot_files: Mapping[str, str] | None = None,
        agent: AgentKind = "process",
        speed: float = 0.0,
        directory: Path | None = None,
        keep_state: bool = True,
        fault_rates: Sequence[FaultRate] = (),
    ) -> None:
        """Write the files; nothing runs before `start`."""
        self._temporary = tempfile.TemporaryDirectory(prefix="firstlight-emulator-") if directory is None else None
        self.directory = directory or Path(self._temporary.name if self._temporary else "")
        self.fleet_path = self.directory / "fleet.yaml"
        self.expected_path = self.directory / "expected.yaml"
        self._port_holder, port = _free_port("0.0.0.0")
        _holder, admin_port = _free_port("127.0.0.1")
        _holder.close()
        self.admin_url = f"http://127.0.0.1:{admin_port}"
        network = f"127.{64 + port % 128}"  # it follows from the port, so that no two fleets share an address
        entries = invent(replace(plan, network=network)) if plan else _entries(bmcs, network, port)
        settings = Settings(
            port,
            admin_port,
            speed,
            boot_service,
            state_dir=Path("state") if keep_state else None,
            fault_rates=tuple(fault_rates),
            agent=agent,
            boot_files=boot_files or {},
        )
        write_fleet(entries, settings, self.directory)
        self.bmcs = [_running(entry, node) for entry, node in zip(entries, expected_nodes(entries, port), strict=True)]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> "EmulatedFleet":
        """Start and wait until every BMC answers. Raises EmulatorError with the log when it does not."""
        self._port_holder.close()
        command = [sys.executable, "-m", "emulator", "serve", "--config", str(self.fleet_path)]
        with (self.directory / "log.txt").open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=_environment())
        line = self._process.stdout.readline() if self._process.stdout else ""
        if "emulator ready" not in line:
            self.stop()
            raise EmulatorError((self.directory / "log.txt").read_text(encoding="utf-8")[-2000:])
        return self

    def stop(self) -> None:
        """End it as SIGTERM does; the state stays."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would; the state stays."""
        self._end(signal.SIGKILL)

    def truth(self, name: str) -> dict[str, Any]:
        """The physical truth of one machine; see README.md."""
        answer = self._admin("GET", f"/bmcs/{name}")
        assert isinstance(answer, dict)  # noqa: S101  (what the admin API says)
        return answer

    def set_fault(self, name: str, fault: str, arguments: Mapping[str, Any] | None = None) -> None:
        """Make a fault happen from now on."""
        self._admin("PUT", f"/bmcs/{name}/faults/{fault}", arguments or {})

    def clear_fault(self, name: str, fault: str) -> None:
        """Heal a fault."""
        self._admin("DELETE", f"/bmcs/{name}/faults/{fault}")

    def set_load(self, name: str, fraction: float | None) -> None:
        """What runs on the host needs this share of it all (0..1); None: nothing does."""
        self._admin("PUT", f"/bmcs/{name}/load", {"fraction": fraction})

    def act(self, name: str, action: str) -> None:
        """power-loss, power-restore or kill-agent."""
        self._admin("POST", f"/bmcs/{name}/actions/{action}")

    def act_on_domain(self, kind: str, name: str, action: str) -> list[str]:
        """power-loss or power-restore of a rack, a power or NVLink domain, or a feed; returns who is in it."""
        return list(self._admin("POST", f"/domains/{kind}/{name}/actions/{action}")["members"])

    def set_fault_rate(self, fault: str, share: float, arguments: Mapping[str, Any] | None = None) -> list[str]:
        """Make a fault happen at a share of the BMCs from now on; returns their names."""
        body = {"share": share, "arguments": arguments or {}}
        return list(self._admin("PUT", f"/fleet/faults/{fault}", body)["names"])

    def summary(self) -> dict[str, Any]:
        """How many BMCs there are, of which persona, in which phase, with which faults."""
        return dict(self._admin("GET", "/fleet"))

    def insert_media(self, name: str, drive: str, image: str) -> None:
        """Put the image at this address into a drive of the host."""
        self._admin("PUT", f"/bmcs/{name}/media/{drive}", {"image": image})

    def eject_media(self, name: str, drive: str) -> None:
        """Take the image out."""
        self._admin("DELETE", f"/bmcs/{name}/media/{drive}")

    def __enter__(self) -> "EmulatedFleet":
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and remove the temporary folder."""
        self.stop()
        if self._temporary:
            self._temporary.cleanup()

    def _admin(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.admin_url + path, data, method=method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  (our own loopback address)
            return json.load(answer)

    def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        process.wait(_READY_SECONDS)
        if process.stdout:
            process.stdout.close()


def _free_port(address: str) -> tuple[socket.socket, int]:
    holder = socket.socket()
    holder.bind((address, 0))
    return holder, holder.getsockname()[1]


def _entries(bmcs: Sequence[Bmc], network: str, seed: int) -> list[BmcEntry]:
    """One rack."""
    entries = invent(Plan(1, len(bmcs), tuple(bmc.persona for bmc in bmcs), network, seed))
    changed = [
        entry.model_dump() | {"faults": bmc.faults, "power": bmc.power, "installed": bmc.installed}
        for entry, bmc in zip(entries, bmcs, strict=True)
    ]
    return [BmcEntry.model_validate(document) for document in changed]


def _running(entry: BmcEntry, node: dict[str, Any]) -> RunningBmc:
    return RunningBmc(
        name=entry.name,
        address=entry.address,
        port=node["bmc_port"],
        persona=entry.persona,
        serial=entry.serial,
        uuid=entry.uuid,
        username=node["factory_username"],
        password=node["factory_password"],
    )


def _environment() -> dict[str, str]:
    root = str(Path(__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
