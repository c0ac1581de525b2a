"""Which accelerator runs a virtual machine here? Found out by running one: /dev/kvm may be there and useless."""

import subprocess
import tempfile
from pathlib import Path

from emulator.vm.plan import FIRMWARE, VARIABLES

_SECONDS = 4
_COMMANDS = """sleep {seconds}
printf '{{"execute":"qmp_capabilities"}}\\n'; sleep 0.2
printf '{{"execute":"query-status"}}\\n'; sleep 0.3
printf '{{"execute":"quit"}}\\n'
"""


def accelerator() -> str:
    """`kvm` where UEFI firmware still runs after some seconds under it, else `tcg`.

    Nested page-table virtualisation (kvm_pvm) opens the device and stops in the first instructions of the firmware.
    """
    if not Path("/dev/kvm").exists():
        return "tcg"
    with tempfile.TemporaryDirectory() as folder:
        variables = Path(folder) / "variables.fd"
        variables.write_bytes(VARIABLES.read_bytes())
        commands = subprocess.Popen(["sh", "-c", _COMMANDS.format(seconds=_SECONDS)], stdout=subprocess.PIPE)
        machine = [
            *("qemu-system-x86_64", "-machine", "q35,accel=kvm", "-cpu", "host,arch-capabilities=off", "-m", "256"),
            *("-display", "none", "-nodefaults", "-no-user-config", "-qmp", "stdio"),
            *("-drive", f"if=pflash,format=raw,readonly=on,file={FIRMWARE}"),
            *("-drive", f"if=pflash,format=raw,file={variables}"),
        ]
        try:
            done = subprocess.run(
                machine, stdin=commands.stdout, capture_output=True, text=True, timeout=3 * _SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "tcg"
        finally:
            commands.wait()
    return "kvm" if '"status": "running"' in done.stdout else "tcg"
