"""nginx with what we write for it, on loopback, and a file that it serves."""

import hashlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.requirements import need

CONTENT = Random(7).randbytes(9 * 2**20 + 17)
"""Three slices of a mirror."""
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
FILE = f"/v1/artefacts/{DIGEST}"


def free_port() -> int:
    """One of loopback."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@contextmanager
def nginx(folder: Path, server: str, port: int) -> Iterator[None]:
    """What we write belongs into the http block of a whole configuration."""
    need(shutil.which("nginx") or Path("/usr/sbin/nginx").exists(), "nginx is not installed")
    folder.mkdir(exist_ok=True)
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    whole = f"""{user} daemon off; pid {folder}/pid; error_log {folder}/error.log info; worker_processes 2;
        events {{ }} http {{ access_log {folder}/access.log; {temporary}
        {server} }}"""
    (folder / "nginx.conf").write_text(whole)
    command = [shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "e")]
    process = subprocess.Popen(command)
    try:
        _wait(port, process, folder)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        assert process.poll() is None, (folder / "error.log").read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return
