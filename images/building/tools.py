"""Running Debian's tools: the same environment everywhere, no network, and nothing that outlives the builder."""

import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from images.building.failures import BuildFailedError

NEEDED = {
    "mmdebstrap": "mmdebstrap",
    "mksquashfs": "squashfs-tools",
    "unsquashfs": "squashfs-tools",
    "veritysetup": "cryptsetup-bin",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "tar": "tar",
}
"""Programs, and the packages of the build host that they come from."""

_VERSIONS = (("mmdebstrap", "--version"), ("mksquashfs", "-version"), ("veritysetup", "--version"))
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_ALONE = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
_DECISIVE = re.compile(
    r"^E: |^dpkg: error|(?<![\w-])error(?![\w-])|No space left|\bFATAL\b|cannot|not found|[Ff]ailed", re.IGNORECASE
)
_REPEATED = re.compile(r"^E: (setup failed|apt download failed|Sub-process|mmdebstrap failed)")
_FULL = re.compile(r"No space left|don't have enough free space|Disk quota exceeded")
_TOLD_LINES = 8
_LINE_CHARACTERS = 240
_KEPT_LINES = 400


class Tools:
    """Runs commands for one build; everything they say goes to its log."""

    def __init__(self, log: Path, scratch: Path, epoch: int, path: str = SYSTEM_PATH) -> None:
        """`scratch`: where temporary files go. `path`: where programs are looked for."""
        self.log = log
        self.environment = {
            "PATH": path,
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "DEBIAN_FRONTEND": "noninteractive",
            "TMPDIR": str(scratch),
        }
        self.epoch = epoch

    def run(
        self,
        command: Sequence[str],
        *,
        alone: bool = False,
        dated: bool = True,
        line_seen: Callable[[str], None] | None = None,
    ) -> str:
        """Return what the command printed; raise BuildFailedError with the lines that matter.

        `alone`: in namespaces of its own, without network, ended with everything it started when the builder ends.
        `dated`: with SOURCE_DATE_EPOCH.
        """
        whole = [*_DIES_WITH_US, *(_ALONE if alone else ()), *command]
        environment = self.environment | ({"SOURCE_DATE_EPOCH": str(self.epoch)} if dated else {})
        lines: deque[str] = deque(maxlen=_KEPT_LINES)
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            try:
                process = subprocess.Popen(
                    whole,
                    env=environment,
                    umask=0o022,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                )
            except FileNotFoundError as error:
                raise BuildFailedError(f"{whole[0]} is not on this machine", self.log) from error
            with process:
                _follow(process.stdout, log, lines, line_seen)
        if process.returncode != 0:
            raise BuildFailedError(_what_failed(command, process.returncode, lines), self.log)
        return "\n".join(lines)


def tool_versions(path: str = SYSTEM_PATH) -> dict[str, str]:
    """Return what the tools say about themselves; raise BuildFailedError naming every package that is missing."""
    missing = {package for program, package in NEEDED.items() if shutil.which(program, path=path) is None}
    if missing:
        raise BuildFailedError(f"this machine cannot build images; as root: apt install {' '.join(sorted(missing))}")
    return {name: _first_line((name, option), path) for name, option in _VERSIONS}


def decisive_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines that say why: those that speak of errors, the last of them; without any, the last lines."""
    spoken = [line.strip()[:_LINE_CHARACTERS] for line in lines if line.strip()]
    decisive = list(dict.fromkeys(line for line in spoken if _DECISIVE.search(line) and not _REPEATED.match(line)))
    return (decisive or spoken)[-_TOLD_LINES:] or ["it said nothing"]


def _follow(output: IO[str] | None, log: IO[str], lines: deque[str], line_seen: Callable[[str], None] | None) -> None:
    for line in output or ():
        log.write(line)
        lines.append(line.rstrip("\n"))
        if line_seen:
            line_seen(line)


def _what_failed(command: Sequence[str], code: int, lines: Sequence[str]) -> str:
    program = next(word for word in command if "=" not in word and word != "env")
    told = "\n".join(f"  {line}" for line in decisive_lines(lines))
    if any(_FULL.search(line) for line in lines):
        return f"{program}: the disk is full; make room, or choose another data directory:\n{told}"
    ended = f"ended with {code}" if code > 0 else "was killed"
    return f"{program} {ended}:\n{told}"


def _first_line(command: tuple[str, ...], path: str) -> str:
    ran = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=False)
    return (ran.stdout or ran.stderr).partition("\n")[0]
