"""A virtual machine behind a BMC, until the end of a block: in namespaces that hold nothing else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from emulator.certificate import Certificates
from emulator.errors import ConfigError
from emulator.machine.state import write_secret
from emulator.machine.state_folder import StateFolder
from emulator.vm.accelerator import accelerator
from emulator.vm.libvirt_daemon import define_domain, make_network, mount_private_folders, start_libvirtd
from emulator.vm.plan import FIRMWARE, PASSWORD, SECURE_FIRMWARE, SERIAL, USERNAME, VARIABLES, VmPlan
from emulator.vm.sushy_bmc import start_bmc

_NAMESPACES = ("--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private")
_PROGRAMS = {
    "unshare": "util-linux",
    "ip": "iproute2",
    "libvirtd": "libvirt-daemon-system",
    "virsh": "libvirt-clients",
    "qemu-system-x86_64": "qemu-system-x86",
}
_STOP_SECONDS = 20.0


def check_host(plan: VmPlan) -> None:
    """Everything that it needs is installed. Raises ConfigError that names Debian's packages."""
    missing = {package for program, package in _PROGRAMS.items() if shutil.which(program) is None}
    missing |= set() if FIRMWARE.exists() and SECURE_FIRMWARE.exists() and VARIABLES.exists() else {"ovmf"}
    missing |= {"swtpm", "swtpm-tools"} if plan.tpm and shutil.which("swtpm_setup") is None else set()
    if missing:
        raise ConfigError(f"vm: not installed: apt install --no-install-recommends {' '.join(sorted(missing))}")
    if os.geteuid() != 0:
        raise ConfigError("vm: namespaces with a network of their own need root")


def in_namespaces(arguments: list[str]) -> list[str]:
    """The command that runs `firstlight-emulator ARGUMENTS` in namespaces of its own; they end with it.

    The shell is there to reap: libvirt leaves its children to process 1 and waits for ever while that does not.
    """
    return ["unshare", *_NAMESPACES, "sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "emulator", *arguments]


@contextmanager
def running(plan: VmPlan) -> Iterator[None]:
    """Bridge, libvirtd, the machine (off) and its BMC, in the namespaces that we are in. Raises EmulatorError."""
    plan.directory.mkdir(parents=True, exist_ok=True)
    write_expected(plan)
    make_network(plan)
    mount_private_folders(plan)
    with ExitStack() as stack:
        stack.enter_context(_until_end(start_libvirtd(plan)))
        define_domain(plan, accelerator())
        certificate = _certificate(plan)
        stack.enter_context(_until_end(start_bmc(plan, certificate, certificate)))
        yield


def write_expected(plan: VmPlan) -> Path:
    """The expected list of the product: this machine, with its BMC's password, which sushy-tools cannot change."""
    node = {
        "name": plan.name,
        "rack": "lab",
        "position": 1,
        "bmc_address": plan.address,
        "bmc_port": plan.bmc_port,
        "serial": SERIAL,
        "factory_username": USERNAME,
        "factory_password": PASSWORD,
        "keep_password": True,
    }
    path = plan.directory / "expected.yaml"
    path.write_text(yaml.safe_dump({"nodes": [node]}, sort_keys=False))
    return path


def _certificate(plan: VmPlan) -> Path:
    path = plan.directory / "bmc.pem"
    if not path.exists():
        write_secret(path, Certificates(StateFolder(None)).pem(plan.name, plan.address))
    return path


@contextmanager
def _until_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
