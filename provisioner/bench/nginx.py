"""An nginx that a bench measures: started from a configuration of its own, ended with the block."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from provisioner.bench.process import cpu_seconds, on_core
from provisioner.errors import BadInput

_START_SECONDS = 10.0
_AROUND = """\
user {user};
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    types {{ }}
    default_type application/octet-stream;
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{http}
}}
"""


@dataclass(frozen=True, slots=True)
class Nginx:
    """Its one worker."""

    worker: int

    def cpu_seconds(self) -> float:
        """What the worker has used."""
        return cpu_seconds(self.worker)


def need_nginx() -> None:
    """Raise `BadInput` without it."""
    if shutil.which("nginx") is None:
        raise BadInput("there is no nginx here: apt install nginx-light")


@contextmanager
def running_nginx(folder: Path, http: str, *, port: int, core: int) -> Iterator[Nginx]:
    """`http`: what stands inside its http block, listening on `port` of loopback. Raises `BadInput`."""
    need_nginx()
    folder.mkdir(parents=True)
    user = "root" if os.geteuid() == 0 else "nobody"  # a folder of root's can be read by nobody else
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, user=user, http=http), encoding="utf-8")
    with on_core(core), (folder / "said.log").open("wb") as said:
        command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
        process = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        yield Nginx(_worker(process, folder, port))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=_START_SECONDS)


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _worker(process: "subprocess.Popen[bytes]", folder: Path, port: int) -> int:
    """Its process, as soon as it answers."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0 and (workers := children.read_text(encoding="utf-8").split()):
                return int(workers[0])
        time.sleep(0.05)
    said = "".join((folder / name).read_text(encoding="utf-8") for name in ("said.log", "error.log"))
    raise BadInput(f"nginx does not start: {said.strip().splitlines()[-1:]}")
