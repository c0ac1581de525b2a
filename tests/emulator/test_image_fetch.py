"""A BMC that is told to fetch an image comes for it from its own address, or not at all."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.emulator.bmc_client import wait_for
from tests.emulator.one_bmc import OneBmc
from tests.emulator.updates import INVENTORY, ended, package, tasks

SIMPLE_UPDATE = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
CONTENT = package("nic", "28.39.40.82") + b"\0" * 16_000_000


@dataclass(slots=True)
class Server:
    url: str = ""
    visits: list[tuple[str, bool]] = field(default_factory=list)
    """Who came, and whether all of it was taken."""


@contextmanager
def _server() -> Iterator[Server]:
    known = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            whole = False
            try:
                self.wfile.write(CONTENT)
                whole = True
            except OSError:
                pass
            finally:
                known.visits.append((self.client_address[0], whole))

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (named by the library)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    known.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()


def _pull(one: OneBmc, url: str) -> None:
    body = {"ImageURI": f"{url}/x.fw", "Targets": [f"{INVENTORY}/NIC1"]}
    assert one.client().send("POST", SIMPLE_UPDATE, json=body).status_code == 202


def test_the_server_sees_the_address_of_the_bmc(one: OneBmc) -> None:
    """So that it can tell whether this BMC came, of the thousands that fetch the same file."""
    with _server() as server:
        _pull(one, server.url)
        ended(one.client())
        assert server.visits == [(one.bmc.address, True)]
    assert one.staged("NIC1") == "28.39.40.82"


@pytest.mark.parametrize(("taken", "visits"), [(0, 0), (1000, 1)])
def test_a_pull_ends_before_the_image_is_there(one: OneBmc, taken: int, visits: int) -> None:
    """dell/iDRAC-Redfish-Scripting#314: the job fails and says little; a push of the same image works."""
    one.set_fault("image-not-fetched", bytes=taken, times=1)
    with _server() as server:
        _pull(one, server.url)
        assert "transfer" in ended(one.client(), "Exception")["Messages"][-1]["Message"]
        wait_for(lambda: len(server.visits) == visits)
        assert all(one_visit == (one.bmc.address, False) for one_visit in server.visits)
        assert one.staged("NIC1") is None
        _pull(one, server.url)
        ended(one.client())
    assert one.staged("NIC1") == "28.39.40.82"


def test_a_pull_hangs_until_the_bmc_is_restarted(one: OneBmc) -> None:
    one.set_fault("image-not-fetched", hangs=True)
    with _server() as server:
        _pull(one, server.url)
        assert [task["TaskState"] for task in tasks(one.client())] == ["Running"]
        one.client().send("POST", "/redfish/v1/Managers/1/Actions/Manager.Reset", json={"ResetType": "GracefulRestart"})
        wait_for(one.restarted)
        wait_for(lambda: tasks(one.client()) == [])
        assert server.visits == []
