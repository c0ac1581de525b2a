"""What tests of firmware updates share: packages, ways to send them, looks at tasks."""

import base64
import json
import struct
import threading
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from emulator.package import Header, build_package
from emulator.testing import RunningBmc
from tests.emulator.bmc_client import BmcClient, wait_for

SERVICE = "/redfish/v1/UpdateService"
INVENTORY = f"{SERVICE}/FirmwareInventory"
SIMPLE_UPDATE = f"{SERVICE}/Actions/UpdateService.SimpleUpdate"
START_UPDATE = f"{SERVICE}/Actions/UpdateService.StartUpdate"
TASKS = "/redfish/v1/TaskService/Tasks"
NEW_BIOS = "BIOS Date: 02/14/2025 Ver 2.5"
PLDM_1_0 = uuid.UUID("f018878c-cb7d-4943-9800-a02f059aca02").bytes


def package(component: str, version: str, hardware: str = "hgx-h100") -> bytes:
    return build_package(Header(component, hardware, version), 4096)


def push(client: BmcClient, content: bytes, parameters: dict[str, Any] | None = None) -> requests.Response:
    """A multipart push, to where the service says."""
    files = {
        "UpdateParameters": (None, json.dumps(parameters or {}), "application/json"),
        "UpdateFile": ("p.fw", content, "application/octet-stream"),
    }
    return client.send("POST", client.get(SERVICE)["MultipartHttpPushUri"], files=files)


def tasks(client: BmcClient) -> list[dict[str, Any]]:
    return [client.get(member["@odata.id"]) for member in client.get(TASKS)["Members"]]


def ended(client: BmcClient, state: str = "Completed") -> dict[str, Any]:
    """The newest task, once it is in `state`."""

    def look() -> dict[str, Any] | None:
        known = tasks(client)
        return known[-1] if known and known[-1]["TaskState"] == state else None

    found: dict[str, Any] = wait_for(look)
    return found


def keys(task: dict[str, Any]) -> list[str]:
    """The keys of a task's messages, in their order, each once."""
    return list(dict.fromkeys(message["MessageId"].rpartition(".")[2] for message in task["Messages"]))


def taken_over(bmc: RunningBmc) -> BmcClient:
    """A client of a BMC whose factory password was changed, where it must be."""
    client = BmcClient(bmc)
    answer = client.send("GET", SERVICE)
    if answer.status_code == 403:
        account = answer.json()["error"]["@Message.ExtendedInfo"][0]["MessageArgs"][0]
        client.send("PATCH", account, json={"Password": "Changed-once-1"})
        client.http.auth = (bmc.username, "Changed-once-1")
    return client


def pldm(names: str, versions: Sequence[str], image: bytes = b"x" * 27) -> bytes:
    """A package as DSP0267 1.0 has it, with one device record."""
    bitmap = b"\x01"
    text = names.encode()
    descriptor = struct.pack("<HHI", 1, 4, 0xA15)
    record = struct.pack("<BIBBH", 1, 0, 1, len(text), 0) + bitmap + text + descriptor
    records = bytes([1]) + struct.pack("<H", len(record) + 2) + record
    size = 36 + 4 + len(records) + 2 + sum(22 + len(one) for one in versions) + 4
    components = struct.pack("<H", len(versions))
    for number, one in enumerate(versions):
        place = size + number * len(image)
        components += struct.pack("<HHIHHIIBB", 10, 100 + number, 0xFFFFFFFF, 0, 1, place, len(image), 1, len(one))
        components += one.encode()
    head = PLDM_1_0 + struct.pack("<BH", 1, size) + b"\0" * 13 + struct.pack("<HBB", 8, 1, 4) + b"1.00"
    start = head + records + components
    return start + struct.pack("<I", zlib.crc32(start)) + image * len(versions)


@contextmanager
def locked_server(content: bytes, username: str, password: str) -> Iterator[str]:
    """A web server that wants a login; its address."""
    wanted = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            right = self.headers["Authorization"] == wanted
            self.send_response(200 if right else 401)
            self.send_header("Content-Length", str(len(content) if right else 0))
            self.end_headers()
            self.wfile.write(content if right else b"")

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (named by the library)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
