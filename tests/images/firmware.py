"""A virtual machine's firmware that starts one program from a disk; what it says on its serial console."""

import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.images.programs import need_tools
from tests.requirements import need

CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
EMPTY_VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
DEFAULT_PROGRAM = "EFI/BOOT/BOOTX64.EFI"
_PATIENCE_SECONDS = 150
_ESCAPES = re.compile(r"\x1b\[[0-9;=]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Machine:
    """Emulated (TCG) without a network. `folder` takes its disk, its variables and its console."""

    folder: Path

    def started(self, files: Mapping[str, bytes], variables: Path, *, until: str) -> str:
        """Start with these files on its disk; return the console up to the first line that matches `until`."""
        need_tools("qemu-system-x86_64", "mformat", "mmd", "mcopy")
        need(CODE.is_file() and EMPTY_VARIABLES.is_file(), "ovmf is not installed")
        shutil.copy(variables, self.folder / "variables.fd")
        console = self.folder / "console.log"
        console.touch()
        with subprocess.Popen(self._command(self._disk(files), console)) as process:
            try:
                return _wait(process, console, re.compile(until))
            finally:
                process.kill()

    def _command(self, disk: Path, console: Path) -> list[str]:
        flash = "if=pflash,format=raw"
        return [
            *("qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-m", "512", "-nodefaults"),
            *("-display", "none", "-nic", "none", "-serial", f"file:{console}"),
            *("-drive", f"{flash},unit=0,readonly=on,file={CODE}"),
            *("-drive", f"{flash},unit=1,file={self.folder / 'variables.fd'}"),
            *("-drive", f"if=virtio,format=raw,file={disk}"),
        ]

    def _disk(self, files: Mapping[str, bytes]) -> Path:
        """A FAT file system without a partition table, which firmware reads as a removable disk."""
        disk = self.folder / "disk.img"
        with disk.open("wb") as image:
            image.truncate(64 * 2**20)
        subprocess.run(["mformat", "-i", disk, "-F", "::"], check=True)
        tree = self.folder / "tree"
        for name, content in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(content)
        subprocess.run(["mcopy", "-s", "-i", disk, *sorted(tree.iterdir()), "::"], check=True)
        return disk


def _wait(process: "subprocess.Popen[bytes]", console: Path, until: re.Pattern[str]) -> str:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        text = _ESCAPES.sub("", console.read_text(encoding="utf-8", errors="replace"))
        if until.search(text):
            return text
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"the machine never said {until.pattern!r}; its console:\n{text[-3000:]}")
        time.sleep(0.1)
