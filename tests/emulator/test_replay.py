"""Recorded servers of others, served as BMCs whose power, boot, BIOS, tasks and firmware work."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from emulator.kind import load_kind
from emulator.package import build_package, packages
from emulator.replay import recorded_kind
from emulator.tree.document import Document
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.replays import SERVERS, Museum, replaying
from tests.redfish.tree_server import MOCKUPS

LIVE = {
    "PowerState",
    "Boot",
    "BootProgress",
    "LastResetTime",
    "DateTime",
    "@odata.etag",
    "@Redfish.Settings",
    "Attributes",
}


@pytest.fixture(scope="module")
def museum() -> Iterator[Museum]:
    with replaying() as replays:
        yield replays


def wait_for_power(client: BmcClient, host: str, state: str) -> None:
    wait_for(lambda: client.get(host)["PowerState"] == state)


def recorded(server: str, path: str) -> Document:
    return load_kind(recorded_kind(MOCKUPS / server)).tree.render(path, lambda *_: "") or {}


def host_path(server: str) -> str:
    return f"/redfish/v1/Systems/{load_kind(recorded_kind(MOCKUPS / server)).persona.system.id}"


@pytest.mark.parametrize("server", SERVERS)
def test_recorded_resources_are_served_as_they_were(museum: Museum, server: str) -> None:
    """What nothing has happened to reads as the real server answered."""
    client = museum.clients[server]
    tree = load_kind(recorded_kind(MOCKUPS / server)).tree
    for path in tree.paths[:: max(1, len(tree) // 100)]:
        found = client.get(quote(path))
        then = recorded(server, path)
        changed = {name for name in found.keys() | then.keys() if found.get(name) != then.get(name)}
        assert changed <= LIVE, path


@pytest.mark.parametrize("server", SERVERS)
def test_recorded_server_can_be_turned_on_and_off(museum: Museum, server: str) -> None:
    """Its Reset action is found where the server said, with values that it said."""
    client, host = museum.clients[server], host_path(server)
    reset = client.get(host)["Actions"]["#ComputerSystem.Reset"]
    allowed = load_kind(recorded_kind(MOCKUPS / server)).persona.system.reset_types
    turns_on = next(kind for kind in ("On", "ForceOn", "PowerCycle") if kind in allowed)
    for kind, state in ((turns_on, "On"), ("ForceOff", "Off")):
        assert client.send("POST", reset["target"], json={"ResetType": kind}).status_code in (200, 202, 204)
        wait_for_power(client, host, state)


@pytest.mark.parametrize("server", SERVERS)
def test_boot_override_of_a_recorded_server_is_kept(museum: Museum, server: str) -> None:
    """PATCH of Boot, as every client does it."""
    client, host = museum.clients[server], host_path(server)
    if "Boot" not in recorded(server, host) or "BootSourceOverrideTarget" not in recorded(server, host)["Boot"]:
        assert client.send("PATCH", host, json={"Boot": {"BootSourceOverrideTarget": "Pxe"}}).status_code in (400, 405)
        return
    body = {"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}
    assert client.send("PATCH", host, json=body).status_code in (200, 204)
    boot = client.get(host)["Boot"]
    assert (boot["BootSourceOverrideTarget"], boot["BootSourceOverrideEnabled"]) == ("Pxe", "Once")


@pytest.mark.parametrize("server", SERVERS)
def test_bios_settings_of_a_recorded_server_are_applied_by_a_reset(museum: Museum, server: str) -> None:
    """The settings object is followed, the registry is enforced, the next POST applies."""
    client, host = museum.clients[server], host_path(server)
    bios = load_kind(recorded_kind(MOCKUPS / server)).persona.bios
    chosen = next(
        (
            (name, next(value for value in one.allowed if value != one.value))
            for name, one in bios.attributes.items()
            if one.type == "Enumeration" and len(one.allowed) > 1 and not one.read_only and not bios_depends(bios, name)
        ),
        None,
    )
    if chosen is None:
        assert not bios.registry or not bios.attributes
        return
    name, value = chosen
    where = client.get(host)["Bios"]["@odata.id"]
    settings = client.get(where).get("@Redfish.Settings", {}).get("SettingsObject", {}).get("@odata.id", where)
    etag = client.send("GET", settings).headers.get("ETag", "*")
    changed = client.send("PATCH", settings, json={"Attributes": {name: value}}, headers={"If-Match": etag})
    assert changed.status_code in (200, 202, 204), changed.text
    turn_on(client, host)
    wait_for(lambda: client.get(where)["Attributes"][name] == value, 30)
    client.send("POST", client.get(host)["Actions"]["#ComputerSystem.Reset"]["target"], json={"ResetType": "ForceOff"})


def bios_depends(bios: Any, name: str) -> bool:
    return any(dependency.attribute == name for dependency in bios.dependencies)


def turn_on(client: BmcClient, host: str) -> None:
    reset = client.get(host)["Actions"]["#ComputerSystem.Reset"]["target"]
    for kind in ("On", "ForceOn", "PowerCycle"):
        if client.send("POST", reset, json={"ResetType": kind}).status_code < 300:
            return
    raise AssertionError("it cannot be turned on")


@pytest.mark.parametrize("server", SERVERS)
def test_firmware_of_a_recorded_server_can_be_flashed(museum: Museum, server: str) -> None:
    """A push to the URI that the server advertised; a task; the new version in the inventory."""
    client = museum.clients[server]
    persona = load_kind(recorded_kind(MOCKUPS / server)).persona
    component = next((one.component for one in persona.firmware if one.component == "bmc" and one.updateable), None)
    uri = persona.update.multipart_uri
    if component is None or uri is None:
        assert server in ("gigabyte-h262-z63-megarac", "hpe-xl675d-a100-ilo5", "lenovo-sr670v2-xcc", "nvidia-dgx-h100")
        return
    header = next(one for one in packages(persona) if one.component == component and one.version.endswith("-next"))
    files = {
        "UpdateParameters": (None, json.dumps({"Targets": []}), "application/json"),
        "UpdateFile": ("package.fw", build_package(header, 4096), "application/octet-stream"),
    }
    answer = client.send("POST", uri, files=files)
    assert answer.status_code == 202, answer.text
    entry = next(one.id for one in persona.firmware if one.component == component)
    path = f"/redfish/v1/UpdateService/FirmwareInventory/{entry}"

    def version() -> object:
        found = client.send("GET", path)
        return found.json().get("Version") if found.status_code == 200 else None

    wait_for(lambda: museum.truth(server)["bmc_resets"] == 1, 30)
    wait_for(lambda: museum.truth(server)["bmc_answers"], 30)
    assert version() == header.version


def test_folder_that_was_never_recorded_is_refused(tmp_path: Path) -> None:
    """A clear message, status 2."""
    command = [sys.executable, "-m", "emulator", "replay", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert str(tmp_path) in ended.stderr
