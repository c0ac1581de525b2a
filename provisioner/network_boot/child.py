"""dnsmasq as a child of the daemon: it never outlives it, and is started again when it dies."""

import asyncio
import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from provisioner.errors import BadInput
from provisioner.network_boot import lease_events
from provisioner.network_boot.architectures import PXE
from provisioner.network_boot.dnsmasq import Place, render_dnsmasq
from provisioner.network_boot.interfaces import networks_of
from provisioner.network_boot.settings import DhcpMode, NetworkBoot
from provisioner.network_boot.templating import TEMPLATES_FOLDER

_log = structlog.get_logger(__name__)

_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
_LAST_LINES = 10
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long to wait before each new start: twice as long each time, until one has lived for `well`."""

    first: float = 1.0
    longest: float = 60.0
    well: float = 120.0


def prepare(boot: NetworkBoot, place: Place) -> Path:
    """Write the configuration, the TFTP root and the script, and have dnsmasq check it; the path of the first.

    Raises `BadInput`.
    """
    place.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    programs = _fill_tftp_root(boot, place.folder / "tftp")
    script = place.folder / "lease-event"
    _replace(script, (TEMPLATES_FOLDER / "lease-event").read_bytes(), 0o700)
    lease_events.prepare(place.folder)
    networks = networks_of(boot.interfaces) if boot.dhcp is DhcpMode.PROXY else ()
    text = render_dnsmasq(boot, place, networks=networks, programs=programs)
    path = place.folder / "dnsmasq.conf"
    _replace(path, text.encode(), 0o600)
    command = [dnsmasq(), "--test", f"--conf-file={path}"]
    tested = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    if tested.returncode:
        raise BadInput(f"dnsmasq does not take {path}: {tested.stderr.strip()}")
    return path


async def keep_answering(
    boot: NetworkBoot, place: Place, *, pauses: Pauses | None = None, on_line: Callable[[str], None] | None = None
) -> None:
    """Until cancelled. `on_line` gets each line that dnsmasq says."""
    chosen = pauses or Pauses()
    pause = chosen.first
    while True:
        began, last = time.monotonic(), deque[str](maxlen=_LAST_LINES)
        try:
            status = await _run(await asyncio.to_thread(prepare, boot, place), last, on_line or _no_one)
            reason = f"exit status {status}"
        except (BadInput, OSError, subprocess.SubprocessError) as error:
            reason = str(error)
        if time.monotonic() - began > chosen.well:
            pause = chosen.first
        _log.error("dhcp_server_ended", reason=reason, last_lines=list(last), again_in_seconds=pause)
        await asyncio.sleep(pause)
        pause = min(2 * pause, chosen.longest)


def dnsmasq() -> str:
    """The program. Raises `BadInput`."""
    return _program("dnsmasq", "dnsmasq-base")


async def _run(config: Path, last: deque[str], on_line: Callable[[str], None]) -> int:
    """Until it ends; its exit status. The kernel ends it when we end, however that happens (PR_SET_PDEATHSIG)."""
    wrapper = [_program("setpriv", "util-linux"), "--pdeathsig", "KILL", "--no-new-privs"]
    process = await asyncio.create_subprocess_exec(
        *wrapper,
        dnsmasq(),
        "--keep-in-foreground",
        f"--conf-file={config}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _log.info("dhcp_server_started", pid=process.pid)
    try:
        assert process.stderr is not None, "asked for"  # noqa: S101
        async for line in process.stderr:
            said = line.decode("utf-8", "replace").strip()
            last.append(said)
            _log.info("dhcp_server_said", line=said)
            on_line(said)
        return await process.wait()
    finally:
        await _end(process)


def _no_one(_line: str) -> None:
    """Hears of no line."""


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _program(name: str, package: str) -> str:
    found = shutil.which(name) or shutil.which(name, path=_SBIN)
    if found is None:
        raise BadInput(f"{name} is not installed; install the Debian package {package}")
    return found


def _fill_tftp_root(boot: NetworkBoot, root: Path) -> frozenset[str]:
    """Copies of the site's programs under the names that DHCP tells, and nothing else; the names."""
    root.mkdir(exist_ok=True, mode=0o755)
    sources = {one.program: boot.ipxe_bios if one.arch is None else boot.ipxe.get(one.arch) for one in PXE}
    there = {name: path for name, path in sources.items() if path is not None and path.is_file()}
    for name, path in there.items():
        _replace(root / name, path.read_bytes(), 0o644)
    for stale in root.iterdir():
        if stale.name not in there:
            stale.unlink()
    return frozenset(there)


def _replace(path: Path, content: bytes, mode: int) -> None:
    """At once: dnsmasq may be reading the old one."""
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    new.chmod(mode)
    new.replace(path)
