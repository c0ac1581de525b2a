"""A PostgreSQL server of one's own: Debian's binaries, an unprivileged user, 127.0.0.1, gone with the test process."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.requirements import need

_INSTALLED = Path("/usr/lib/postgresql")
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # no test pulls the plug
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "logging_collector": "off",
}


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server; a superuser with a password that nobody else knows."""

    port: int
    password: str

    def url(self, database: str = "postgres") -> str:
        """As in Firstlight's settings."""
        return f"postgresql://firstlight:{self.password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str) -> None:
        """Run one statement outside any transaction."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def create_database(self) -> str:
        """Make an empty database (a quarter of a second) with a name of its own; the name."""
        name = f"site_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def drop_database(self, name: str) -> None:
        """Remove it, whoever is still connected."""
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Start one server for this test process and stop it at the end."""
    binaries = _newest_binaries()
    folder = Path(tempfile.mkdtemp(prefix="firstlight-postgres-"))
    server = PostgresServer(_free_port(), secrets.token_hex(16))
    try:
        process = _start(binaries, folder, server)
        try:
            _wait_until_ready(process, server, folder / "log")
            yield server
        finally:
            _stop(process)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """Return the URL of the server's own database, the same for every test of this process."""
    return postgres_server.url()


@pytest.fixture
def postgres_database(postgres_server: PostgresServer) -> Iterator[str]:
    """Return the URL of an empty database that belongs to this test alone."""
    name = postgres_server.create_database()
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


def postgres_binaries() -> Path | None:
    """Return the folder with the newest server's programs, or None when there is none."""
    found = sorted(_INSTALLED.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def _newest_binaries() -> Path:
    binaries = postgres_binaries()
    need(binaries, "PostgreSQL's server is not installed: apt-get install --no-install-recommends postgresql")
    assert binaries is not None
    return binaries


def _start(binaries: Path, folder: Path, server: PostgresServer) -> subprocess.Popen[bytes]:
    """Make a cluster in `folder` and start its server, which ends when this process does, however it ends."""
    user = _unprivileged_user()
    data, password_file = folder / "data", folder / "password"
    password_file.write_text(server.password)
    for path in (folder, password_file):
        os.chown(path, user.pw_uid, user.pw_gid)
    options = ["--username=firstlight", "--auth=scram-sha-256", f"--pwfile={password_file}", "--no-sync"]
    initdb = [str(binaries / "initdb"), f"--pgdata={data}", "--encoding=UTF8", "--locale=C.UTF-8", *options]
    made = subprocess.run([*_as(user), *initdb], cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    command = [*_as(user), str(binaries / "postgres"), "-D", str(data), "-p", str(server.port), *settings]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


def _unprivileged_user() -> pwd.struct_passwd:
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    names = {user.pw_name: user for user in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _as(user: pwd.struct_passwd) -> list[str]:
    command = ["setpriv", "--pdeathsig=INT"]
    if os.geteuid() == 0:
        command += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return [*command, "--"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], server: PostgresServer, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(server.url(), connect_timeout=5).close()
            return
        except psycopg.OperationalError as error:
            ended = process.poll() is not None or time.monotonic() > deadline
            if ended:
                raise AssertionError(f"PostgreSQL did not start:\n{log.read_text()}") from error
            time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Fast shutdown; connections that are still open are cut."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGQUIT)
        process.wait(30)
