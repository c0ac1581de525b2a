"""Runs functions of the initrd's boot script in a shell, with files of the test's own for /proc, /sys, /run."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.requirements import need

SCRIPTS = Path(__file__).parents[2] / "images" / "initrd"
SHELLS = ("dash", "busybox")
TOKEN = "one-time.token_of~this/boot+1="
POWERED_OFF = 42
UUID = "6f0f4a44-9a53-4d2f-8f4f-5a6b0f5c4c2e"
MAC = "52:54:00:12:34:57"


@dataclass(frozen=True)
class Ran:
    """How a script ended, and what it left."""

    code: int
    stderr: str
    console: str
    pauses: list[int]
    arguments: str


class InitrdShell:
    """One machine's initrd. `shell`: dash with Debian's commands, or busybox with its own, as an initrd has them."""

    def __init__(self, folder: Path, shell: str) -> None:
        need(shutil.which("busybox") and shutil.which("dash"), "needs the Debian packages busybox and dash")
        self.folder = folder
        self.file = folder / "image" / "root.img"
        self.file.parent.mkdir()
        self._command = [str(shutil.which(shell)), *(["sh"] if shell == "busybox" else [])]
        self._path = self._commands(shell)
        for name, content in (("product_uuid", UUID), ("product_serial", "SN 1&2")):
            self.write(f"dmi/{name}", f"{content}\n")
        self.write("net/eth0/address", f"{MAC}\n")
        self.write("meminfo", "MemTotal:  2097152 kB\nMemAvailable:  1048576 kB\n")

    @property
    def commands(self) -> Path:
        """Where the shell looks for commands first."""
        return self.folder / "commands"

    def write(self, name: str, text: str) -> None:
        """Write a file of the machine."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, script: str, words: str = "", inside: Sequence[str] = ()) -> Ran:
        """Take the words, then run the script; pauses are noted, not waited for. `inside`: what runs the shell."""
        for name in ("console", "pauses", "arguments"):
            self.write(name, "")
        ran = subprocess.run(
            [*self._outside(inside), *self._command, "-c", self._prologue() + script],
            env={"PATH": self._path, "WORDS": words, "ARGUMENTS": str(self.folder / "arguments")},
            capture_output=True,
            text=True,
            timeout=60,
        )
        texts = {name: (self.folder / name).read_text() for name in ("console", "pauses", "arguments")}
        assert TOKEN not in "".join(texts.values()) + ran.stdout + ran.stderr
        assert TOKEN not in (self.folder / "run" / "initrd.log").read_text()
        pauses = [int(line) for line in texts["pauses"].split()]
        return Ran(ran.returncode, ran.stderr, texts["console"], pauses, texts["arguments"])

    @staticmethod
    def _outside(command: Sequence[str]) -> list[str]:
        """What runs the shell is the system's own, whatever commands the shell has."""
        return [str(shutil.which(command[0])), *command[1:]] if command else []

    def _prologue(self) -> str:
        """The real script, with other places; power off ends the shell."""
        at = self.folder
        self.write("consoles", f"..{at}/console -WU (EC p  ) 4:64\n")
        (at / "run").mkdir(exist_ok=True)
        (at / "run" / "initrd.log").touch()
        return f"""
            set -u
            fl_scripts={SCRIPTS}
            . {SCRIPTS}/firstlight
            fl_meminfo={at}/meminfo fl_consoles={at}/consoles fl_dmi={at}/dmi fl_net={at}/net fl_leases={at}/leases
            fl_resolv={at}/resolv.conf fl_run={at}/run fl_networkd={at}/networkd fl_work={at} fl_image={at}/image
            fl_file=$fl_image/root.img fl_card=eth0 rootmnt={at}/rootmnt
            fl_pause() {{ echo "$1" >>{at}/pauses; }}
            fl_power_off() {{ exit {POWERED_OFF}; }}
            fl_read_words "$WORDS"
            """

    def _commands(self, shell: str) -> str:
        """A folder whose curl first notes its arguments, which every process of a machine can read."""
        commands = self.commands
        commands.mkdir()
        if shell == "busybox":
            subprocess.run(["busybox", "--install", "-s", str(commands)], check=True)
        curl = commands / "curl"
        curl.write_text(f'#!/bin/sh\necho "$@" >>"$ARGUMENTS"\nexec {shutil.which("curl")} "$@"\n')
        curl.chmod(0o755)
        return str(commands) if shell == "busybox" else f"{commands}:{os.environ['PATH']}"
