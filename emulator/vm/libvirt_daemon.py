"""A libvirtd of our own, in namespaces of our own, and the domain that it runs."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from emulator.errors import EmulatorError
from emulator.vm.plan import BRIDGE, FIRMWARE, SECURE_FIRMWARE, SERIAL, VARIABLES, VmPlan

_START_SECONDS = 60.0
_FOLDERS = {
    "etc": "/etc/libvirt",
    "run": "/run/libvirt",
    "lib": "/var/lib/libvirt",
    "log": "/var/log/libvirt",
    "cache": "/var/cache/libvirt",
}
_QEMU_CONF = """user = "root"
group = "root"
security_driver = "none"
cgroup_controllers = [ ]
namespaces = [ ]
remember_owner = 0
stdio_handler = "file"
swtpm_user = "root"
swtpm_group = "root"
"""
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    trim_blocks=True,
    autoescape=True,
)


def make_network(plan: VmPlan) -> None:
    """Loopback and a bridge, in the network namespace that we are in."""
    for command in (
        f"ip link set lo up; ip link add {BRIDGE} type bridge stp_state 0 forward_delay 0",
        f"ip addr add {plan.network} dev {BRIDGE}; ip link set {BRIDGE} up",
    ):
        subprocess.run(["sh", "-ec", command], check=True)


def mount_private_folders(plan: VmPlan) -> None:
    """Its files are ours alone: another libvirtd on this machine keeps its own. Needs a private mount namespace."""
    for name, place in _FOLDERS.items():
        folder = plan.directory / "libvirt" / name
        folder.mkdir(parents=True, exist_ok=True)
        Path(place).mkdir(parents=True, exist_ok=True)
        if name == "etc":
            subprocess.run(["cp", "-a", f"{place}/.", str(folder)], check=True)
            for link in (folder / "qemu" / "networks" / "autostart").glob("*"):
                link.unlink()
            (folder / "qemu.conf").write_text(_QEMU_CONF)
        subprocess.run(["mount", "--bind", str(folder), place], check=True)
    nvram = Path("/var/lib/libvirt/qemu/nvram")
    nvram.mkdir(parents=True, exist_ok=True)
    for old in nvram.glob("*.fd"):
        old.unlink()


def start_libvirtd(plan: VmPlan) -> subprocess.Popen[bytes]:
    """Start it, without systemd, and wait until it answers. Raises EmulatorError."""
    log_path = plan.directory / "libvirtd.log"
    with log_path.open("ab") as log:
        daemon = subprocess.Popen(["libvirtd", "--pid-file", "/run/libvirt/libvirtd.pid"], stdout=log, stderr=log)
    await_start(daemon, "libvirtd", log_path, lambda: _virsh("version").returncode == 0)
    return daemon


def await_start(process: subprocess.Popen[bytes], name: str, log: Path, answers: Callable[[], bool]) -> None:
    """Wait until it answers. Raises EmulatorError with its last words."""
    deadline = time.monotonic() + _START_SECONDS
    while not answers():
        if process.poll() is not None or time.monotonic() > deadline:
            said = "; ".join(log.read_text(errors="replace").strip().splitlines()[-3:])
            raise EmulatorError(f"{name} does not start: {said} ({log})")
        time.sleep(0.05)


def define_domain(plan: VmPlan, accelerator: str) -> None:
    """Make the machine known; it stays off. Raises EmulatorError with libvirt's words."""
    secure = plan.secure_variables is not None
    xml = _TEMPLATES.get_template("domain.xml.j2").render(
        plan=plan,
        accelerator=accelerator,
        bridge=BRIDGE,
        firmware=SECURE_FIRMWARE if secure else FIRMWARE,
        variables=VARIABLES,
        serial=SERIAL,
    )
    path = plan.directory / "domain.xml"
    path.write_text(xml)
    plan.serial_log.touch()
    done = _virsh("define", str(path))
    if done.returncode:
        raise EmulatorError(f"{path}: libvirt refuses the machine: {done.stderr.strip()}")


def _virsh(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["virsh", "--quiet", "--connect", "qemu:///system", *arguments], capture_output=True, text=True, check=False
    )
