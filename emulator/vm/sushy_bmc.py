"""The BMC of the virtual machine: sushy-tools with its libvirt driver, over TLS, with a password."""

import base64
import importlib.util
import os
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import bcrypt

from emulator.errors import EmulatorError
from emulator.vm.libvirt_daemon import await_start
from emulator.vm.plan import FIRMWARE, PASSWORD, SECURE_FIRMWARE, USERNAME, VARIABLES, VmPlan

_DEBIAN_MODULES = Path("/usr/lib/python3/dist-packages")


def start_bmc(plan: VmPlan, certificate: Path, key: Path) -> subprocess.Popen[bytes]:
    """Start it and wait until it answers. Raises EmulatorError."""
    state = plan.directory / "sushy-state"
    state.mkdir(exist_ok=True)
    config = plan.directory / "sushy-emulator.conf"
    config.write_text(_config(plan, state, certificate, key))
    environment = os.environ | {"PYTHONPATH": str(_libvirt_module(plan.directory))}
    log_path = plan.directory / "sushy-emulator.log"
    command = [sys.executable, "-c", "from sushy_tools.emulator.main import main; main()", "--config", str(config)]
    with log_path.open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    await_start(process, "sushy-emulator", log_path, lambda: _answers(plan))
    return process


def _config(plan: VmPlan, state: Path, certificate: Path, key: Path) -> str:
    password = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(rounds=4)).decode()
    users = plan.directory / "bmc-users"
    users.write_text(f"{USERNAME}:{password}\n")
    settings = {
        "LISTEN_IP": plan.address,
        "LISTEN_PORT": plan.bmc_port,
        "SSL_CERT": str(certificate),
        "SSL_KEY": str(key),
        "AUTH_FILE": str(users),
        "LIBVIRT_URI": "qemu:///system",
        "FEATURE_SET": "full",
        "STATE_DIR": str(state),
        "BOOT_LOADER_MAP": {
            "UEFI": {"x86_64": str(SECURE_FIRMWARE if plan.secure_variables else FIRMWARE)},
            "Legacy": {"x86_64": None},
        },
    }
    if plan.secure_variables:
        settings["SECURE_BOOT_DISABLED_NVRAM"] = str(VARIABLES)
        settings["SECURE_BOOT_ENABLED_NVRAM"] = str(plan.secure_variables)
    return "".join(f"SUSHY_EMULATOR_{name} = {value!r}\n" for name, value in settings.items())


def _libvirt_module(directory: Path) -> Path:
    """The folder to import `libvirt` from: libvirt-python has no wheels, so Debian's package lends its two files."""
    folder = directory / "python-libvirt"
    folder.mkdir(exist_ok=True)
    if importlib.util.find_spec("libvirt") is not None:
        return folder
    tag = f"cpython-{sys.version_info.major}{sys.version_info.minor}"
    files = [_DEBIAN_MODULES / "libvirt.py", *_DEBIAN_MODULES.glob(f"libvirtmod.{tag}-*.so")]
    if len(files) < 2 or not files[0].exists():
        raise EmulatorError(
            f"there is no libvirt module for this Python ({tag}): install Debian's python3-libvirt and use Debian's "
            "version of Python, or libvirt-python from source"
        )
    for file in files:
        link = folder / file.name
        link.unlink(missing_ok=True)
        link.symlink_to(file)
    return folder


def _answers(plan: VmPlan) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(f"https://{plan.address}:{plan.bmc_port}/redfish/v1/Systems")
    request.add_header("Authorization", "Basic " + base64.b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode())
    try:
        with urllib.request.urlopen(request, context=context, timeout=5) as answer:  # noqa: S310 - https only
            return bool(answer.status == 200)
    except OSError:
        return False
