"""A site with one real machine: firmware, network, image and services are the real ones, in a network of their own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from emulator.vm.plan import VmPlan
from tests.requirements import need

NODE = "vm-1"
ADDRESS = "10.77.0.1"
_PROGRAMS = ("libvirtd", "qemu-system-x86_64", "dnsmasq", "mmdebstrap", "mksquashfs", "veritysetup", "nsenter")
_LOGS = ("vm.log", "daemon.log", "vm/serial.log", "vm/sushy-emulator.log", "vm/libvirtd.log")
_ARTEFACTS = Path(__file__).parents[2] / ".artefacts" / "machine"

BOOT_SECONDS = 600.0
"""Power-on to ready takes 70 to 110 s under TCG on two idle cores; CI's are not idle."""


def need_machine() -> None:
    """Skip, or fail in CI, where a virtual machine cannot be had."""
    need(os.geteuid() == 0, "a network of its own needs root")
    for program in _PROGRAMS:
        need(shutil.which(program) is not None, f"{program} is not installed")
    need(Path("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd").exists(), "ovmf is not installed")


class MachineSite:
    """`folder` is the data directory; `machine` says what the virtual machine is like."""

    def __init__(self, folder: Path, **machine: Any) -> None:
        """Nothing runs yet."""
        self.folder = folder
        self.plan = VmPlan(directory=folder / "vm", **machine)
        self._vm: subprocess.Popen[bytes] | None = None
        self._daemon: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "MachineSite":
        """Make the machine; it stays off."""
        self.plan.directory.mkdir(parents=True, exist_ok=True)
        pid_file = self.plan.directory / "namespace.pid"
        pid_file.unlink(missing_ok=True)
        options = [
            *(("--secure-variables", str(self.plan.secure_variables)) if self.plan.secure_variables else ()),
            *(("--http-boot",) if self.plan.http_boot else ()),
            *(("--tpm",) if self.plan.tpm else ()),
        ]
        command = [sys.executable, "-m", "emulator", "vm", "--directory", str(self.plan.directory), *options]
        with (self.folder / "vm.log").open("ab") as log:
            self._vm = subprocess.Popen(command, stdout=log, stderr=log)
        wait_for(lambda: "emulator ready" in self.said("vm.log"), 120, self.logs)
        return self

    def __exit__(self, *_: object) -> None:
        """End everything inside with it."""
        self.stop()
        if self._vm is not None:
            self._vm.send_signal(signal.SIGTERM)
            self._vm.wait(timeout=60)
        self._keep_logs()

    def configure(self, releases: Mapping[str, str], **more: Any) -> None:
        """Write site.yaml, with DHCP on the machine's bridge."""
        ranges = [{"network": "10.77.0.0/24", "first": "10.77.0.50", "last": "10.77.0.99"}]
        boot = {"dhcp": "full", "interfaces": ["br0"], "ranges": ranges} | more.pop("network_boot", {})
        site = {
            "name": "lab",
            "data_dir": ".",
            "listen": {"host": ADDRESS, "port": 8410},
            "expected": "vm/expected.yaml",
            "releases": dict(releases),
            "network_boot": boot,
        }
        (self.folder / "site.yaml").write_text(yaml.safe_dump(site | more, sort_keys=False))

    def serve(self) -> None:
        """Start the daemon in the machine's network, and wait until it answers."""
        with (self.folder / "daemon.log").open("ab") as log:
            command = self._inside([sys.executable, "-m", "provisioner", "serve", "-c", str(self.folder / "site.yaml")])
            self._daemon = subprocess.Popen(command, stdout=log, stderr=log)
        wait_for(lambda: self.command("node", "list", check=False).returncode == 0, 120, self.logs)

    def stop(self) -> None:
        """End the daemon as its supervisor would."""
        if self._daemon is not None:
            pid = self._daemon.pid  # of nsenter, which hands on no signal
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                os.kill(int(child), signal.SIGTERM)
            self._daemon.wait(timeout=60)
            self._daemon = None

    def command(self, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """`firstlight WORDS`, as a person types it there."""
        done = subprocess.run(
            self._inside([sys.executable, "-m", "provisioner", *words]),
            capture_output=True,
            text=True,
            env=os.environ | {"FIRSTLIGHT_DATA_DIR": str(self.folder)},
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done

    def node(self) -> dict[str, Any]:
        """What the API says about the machine."""
        token = (self.folder / "admin-token").read_text().strip()
        header = self.folder / "authorization"
        header.write_text(f"Authorization: Bearer {token}\n")
        url = f"http://{ADDRESS}:8410/v1/nodes/{NODE}"
        done = subprocess.run(self._inside(["curl", "-fsS", "-H", f"@{header}", url]), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def await_node(self, *states: str, seconds: float = BOOT_SECONDS) -> dict[str, Any]:
        """Wait until the machine is in one of these states, and nowhere held on the way unless that is one of them."""
        seen: dict[str, Any] = {}

        def settled() -> bool:
            nonlocal seen
            seen = self.node()
            assert "held" in states or seen["state"] != "held", f"held: {seen}\n{self.logs()}"
            return seen["state"] in states

        wait_for(settled, seconds, self.logs, every=1.0)
        return seen

    def said(self, name: str) -> str:
        """What a log in the folder holds, or nothing."""
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def console(self) -> str:
        """What the machine has written on its serial console since it was made."""
        return self.said("vm/serial.log")

    def logs(self) -> str:
        """The ends of all logs, for whoever has to find out why."""
        return "\n".join(f"--- {name}\n{self.said(name)[-3000:]}" for name in _LOGS)

    def _keep_logs(self) -> None:
        """Where they outlive the test's folder: `.artefacts/machine/` of the checkout."""
        place = _ARTEFACTS / self.folder.name
        place.mkdir(parents=True, exist_ok=True)
        for name in _LOGS:
            (place / Path(name).name).write_text(self.said(name))

    def redfish(self, method: str, path: str, body: object = None) -> Any:
        """One request to the machine's BMC, as somebody else would make it."""
        url = f"https://{ADDRESS}:{self.plan.bmc_port}/redfish/v1/Systems/{self.plan.uuid}{path}"
        words = ["curl", "-fsSk", "-u", "admin:factory-password", "-X", method, url]
        words += ["-H", "Content-Type: application/json", "-d", json.dumps(body)] if body is not None else []
        done = subprocess.run(self._inside(words), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + self.logs()
        return json.loads(done.stdout) if done.stdout else None

    def _inside(self, command: list[str]) -> list[str]:
        pid = (self.plan.directory / "namespace.pid").read_text().strip()
        return ["nsenter", "--target", pid, "--net", "--mount", "--pid", *command]


def wait_for(check: Callable[[], bool], seconds: float, logs: Callable[[], str], *, every: float = 0.2) -> None:
    """Ask again and again; fails with the logs."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s\n{logs()}"
        time.sleep(every)
