"""The bench of the boot service: what it asks and compares. How long anything takes is for people to judge."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from provisioner.bench.clients.connection import Connection
from provisioner.bench.clients.download import download
from provisioner.bench.command import bench_app
from provisioner.errors import BadInput
from tests.images.programs import need_tools

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(300)]


@pytest.mark.slow
def test_every_kind_of_question_is_asked_and_every_server_serves(tmp_path: Path) -> None:
    need_tools("nginx")
    path = tmp_path / "figures.json"
    words = ["boot", "--nodes", "20", "--mebibytes", "4", "--seconds", "0.6", "--json", str(path)]
    done = CliRunner().invoke(bench_app, words)
    assert done.exit_code == 0, done.output
    found = json.loads(path.read_text(encoding="utf-8"))
    assert [one["kind"] for one in found["decisions"]] == [
        "iPXE by identity",
        "words of an initrd",
        "HEAD of a boot program",
    ]
    assert all(one["nodes"] == 20 and one["decisions_per_second"] > 0 for one in found["decisions"])
    assert [one["server"] for one in found["files"]] == ["plain nginx", "nginx as recommended", "Firstlight itself"]
    assert all(one["megabytes_per_second"] > 0 and one["to_plain_nginx"] > 0 for one in found["files"])
    assert "bench boot: decisions" in done.output


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def _answer(listener: socket.socket, answer: bytes) -> threading.Thread:
    """To one connection and one request; then it is closed."""

    def serve() -> None:
        with listener.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n#!ipxe\nx", "does not stand in the answer"),
        (b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n", "503 busy"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", "closed the connection"),
    ],
)
async def test_an_answer_that_boots_nothing_is_no_figure(answer: bytes, reason: str, server: socket.socket) -> None:
    """A load that counts refusals measures how fast refusals are."""
    thread = _answer(server, answer)
    connection = Connection([b"GET / HTTP/1.1\r\n\r\n"], words=b"firstlight.token=")
    await asyncio.get_running_loop().create_connection(lambda: connection, *server.getsockname())
    with pytest.raises(BadInput, match=reason):
        await connection.ask_first()
    thread.join(10)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "404 Not Found"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", "it ended 96 bytes too early"),
    ],
)
def test_a_file_that_does_not_come_whole_is_no_figure(answer: bytes, reason: str, server: socket.socket) -> None:
    threads = [_answer(server, answer) for _ in range(2)]  # the first one only warms the cache
    with pytest.raises(BadInput, match=reason):
        download(server.getsockname()[1], "/file", 100, connections=1, seconds=0.1)
    for thread in threads:
        thread.join(10)
