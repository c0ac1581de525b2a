"""The demo with one real machine: an image is built, and a virtual machine's own firmware boots it."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from provisioner.errors import BadInput

_IMAGE, _CLASS, _RELEASE = "virtual-machine", "virtual-machine", "virtual-machine-1"
_ADDRESS, _NETWORK = "10.77.0.1", "10.77.0.0/24"
_FIRST, _LAST = "10.77.0.50", "10.77.0.99"
_BRIDGE = "br0"


def run_with_machine(data_dir: Path, port: int, options: list[str]) -> int:
    """Build the image, then run the demo once more beside the machine, in the machine's network; its exit code."""
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write_site(data_dir, port)
    _build(data_dir)
    inside = [sys.executable, "-m", "provisioner", "demo", "--inside", "--data-dir", str(data_dir), *options]
    machine = [sys.executable, "-m", "emulator", "vm", "--directory", str(data_dir / "vm"), "--", *inside]
    return subprocess.run(machine, check=False).returncode


def _build(data_dir: Path) -> None:
    command = [sys.executable, "-m", "provisioner", "image", "build", _IMAGE, "--data-dir", str(data_dir)]
    if subprocess.run(command, check=False).returncode:
        raise BadInput(f"the image {_IMAGE} could not be built; what is wrong is said above")


def _write_site(data_dir: Path, port: int) -> None:
    """site.yaml, unless a first run has written it. The list of nodes is written by whoever makes the machine."""
    path = data_dir / "site.yaml"
    if path.exists():
        return
    site = {
        "name": "demo",
        "data_dir": ".",
        "listen": {"host": _ADDRESS, "port": port},
        "expected": os.path.relpath(data_dir / "vm" / "expected.yaml", data_dir),
        "releases": {_CLASS: _RELEASE},
        "network_boot": {
            "dhcp": "full",
            "interfaces": [_BRIDGE],
            "ranges": [{"network": _NETWORK, "first": _FIRST, "last": _LAST}],
        },
    }
    path.write_text(str(yaml.safe_dump(site, sort_keys=False)), encoding="utf-8")
