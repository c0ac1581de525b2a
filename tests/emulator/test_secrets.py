"""What clients tell a BMC in confidence stays where it has to be."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer
from tests.emulator.listener import EventListener
from tests.emulator.updates import SIMPLE_UPDATE

DELL = "dell-xe9680"
SECRET = "Planted-Secret"
WHO = ("account", "session", "header", "media", "image-login", "image-key", "bios", "old-bios", "boot-key", "typo")
SECRETS = {name: f"{SECRET}-{name}" for name in WHO} | {"account": "Planted-Secret-1"}


@pytest.fixture(scope="module")
def told() -> Iterator[tuple[EmulatedFleet, BmcClient, list[Any]]]:
    """A BMC that was told every secret, the events that it sent, and beside it one whose host was told a boot key."""
    with EventListener() as listener, BootServer() as boot:
        files = {"ipxe": f"{boot.url}/boot/{SECRETS['boot-key']}?key={SECRETS['boot-key']}"}
        with EmulatedFleet([Bmc(DELL), Bmc()], boot_files=files) as fleet:
            client = BmcClient(fleet.bmcs[0])
            listener.subscribe(client, HttpHeaders=[{"Authorization": SECRETS["header"]}])
            _tell(client)
            BmcClient(fleet.bmcs[1]).reset("On")
            wait_for(lambda: fleet.truth("r01-u02")["boot_error"])
            assert any(SECRETS["boot-key"] in path for path, _ in boot.requests)
            client.send("POST", "/redfish/v1/EventService/Actions/EventService.SubmitTestEvent", json={})
            listener.until("TestMessage")
            sent = [listener.bodies.get() for _ in range(listener.bodies.qsize())]
            yield fleet, client, sent


def _tell(client: BmcClient) -> None:
    """Every secret, some of them where the BMC refuses them."""
    accounts = "/redfish/v1/AccountService/Accounts"
    account = {"UserName": "second", "Password": SECRETS["account"], "RoleId": "ReadOnly"}
    assert client.send("POST", accounts, json=account).status_code == 201
    client.send("POST", accounts, json={**account, "UserName": "third", "Password": [SECRETS["typo"]]})
    client.send("GET", "/redfish/v1/Systems", headers={"X-Auth-Token": SECRETS["session"]})
    drive = "/redfish/v1/Systems/System.Embedded.1/VirtualMedia/1"
    media = {"Image": "http://127.0.0.1:9/boot.iso", "UserName": "u", "Password": SECRETS["media"]}
    assert client.send("POST", f"{drive}/Actions/VirtualMedia.InsertMedia", json=media).status_code == 204
    image = f"http://user:{SECRETS['image-login']}@127.0.0.1:9/p.fw?key={SECRETS['image-key']}"
    update = {"ImageURI": image, "Username": "u", "Password": SECRETS["image-login"]}
    assert client.send("POST", SIMPLE_UPDATE, json=update).status_code == 202
    change = {"PasswordName": "SetupPassword", "OldPassword": SECRETS["old-bios"], "NewPassword": SECRETS["bios"]}
    change_password = "/redfish/v1/Systems/System.Embedded.1/Bios/Actions/Bios.ChangePassword"
    client.send("POST", change_password, json=change)
    assert client.send("POST", change_password, json={**change, "OldPassword": ""}).status_code == 204


def _resources(client: BmcClient) -> str:
    """All that a client can read of what comes and goes."""
    roots = ("TaskService", "EventService", "AccountService", "SessionService", "UpdateService", "Managers", "Systems")
    todo = [f"/redfish/v1/{name}" for name in roots]
    seen: dict[str, str] = {}
    while todo:
        path = todo.pop()
        text = seen[path] = client.send("GET", path).text
        links = {part.partition('"')[0] for part in text.split('"@odata.id":"')[1:]}
        new = {link.partition("#")[0] for link in links} - seen.keys() - set(todo)
        todo += [link for link in new if link.startswith(tuple(f"/redfish/v1/{name}" for name in roots))]
    return "\n".join(seen.values())


def test_no_secret_is_told_again(told: tuple[EmulatedFleet, BmcClient, list[Any]]) -> None:
    """Resources, logs of the BMC, events, the truth for tests, the log of the process: none repeats a secret."""
    fleet, client, sent = told
    resources = _resources(client)
    shown_request = f"key={SECRETS['image-key']}"
    assert resources.count(shown_request) == 1, "the task shows what was asked for"
    places = {
        "resources": resources.replace(shown_request, ""),
        "events": repr(sent),
        "truth": str(fleet.truth("r01-u01")) + str(fleet.truth("r01-u02")),
        "log": (fleet.directory / "log.txt").read_text(),
        "record of the logs": (fleet.directory / "state/r01-u01/logs.jsonl").read_text(),
    }
    found = [(place, name) for place, text in places.items() for name, secret in SECRETS.items() if secret in text]
    assert found == []


def test_what_has_to_be_kept_is_for_nobody_else_to_read(told: tuple[EmulatedFleet, BmcClient, list[Any]]) -> None:
    """Passwords and keys are in the state of a machine; it is a file of its owner."""
    fleet, _, _ = told
    folder = fleet.directory / "state/r01-u01"
    assert SECRETS["account"] in (folder / "state.json").read_text()
    assert {name: (folder / name).stat().st_mode & 0o077 for name in ("state.json", "bmc.pem")} == {
        "state.json": 0,
        "bmc.pem": 0,
    }


def test_a_traceback_in_the_log_shows_no_variables() -> None:
    """structlog prefers rich, which prints the local variables of each frame: among them are passwords."""
    program = (
        "import asyncio\n"
        "from emulator.background import run_in_background\n"
        "from emulator.logs import configure_logs\n"
        "async def work():\n"
        "    password = 'Planted' + '-Secret'\n"
        "    raise ValueError('it broke')\n"
        "async def main():\n"
        "    task = run_in_background(work(), 'a test')\n"
        "    await asyncio.wait([task])\n"
        "configure_logs()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "background work crashed" in done.stderr
    assert "ValueError: it broke" in done.stderr
    assert SECRET not in done.stderr + done.stdout
