"""The scripts of redfish-utilities do to each kind of server what they say; judged by what happened to the machine."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from emulator.package import Header, build_package
from emulator.persona.bios import Attribute
from emulator.persona.load import load_persona, persona_names
from emulator.persona.persona import Persona
from emulator.testing import Bmc, EmulatedFleet, RunningBmc
from tests.conformance.site import take_over
from tests.conformance.tacklebox import rf
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]


@dataclass(frozen=True)
class Server:
    """A BMC, its kind, and the truth about the machine behind it."""

    bmc: RunningBmc
    persona: Persona
    fleet: EmulatedFleet

    @property
    def truth(self) -> dict[str, Any]:
        return self.fleet.truth(self.bmc.name)

    @property
    def system(self) -> tuple[str, str]:
        return ("--system", self.persona.system.id)

    def has_firmware(self, version: str) -> bool:
        return any(version in (entry["active"], entry["staged"]) for entry in self.truth["firmware"].values())


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One BMC of each persona."""
    with EmulatedFleet([Bmc(persona, power="On") for persona in persona_names()]) as fleet:
        fleet.bmcs = [take_over(bmc) for bmc in fleet.bmcs]
        yield fleet


@pytest.fixture(
    params=[
        pytest.param(persona, marks=pytest.mark.xdist_group(f"conformance {persona}")) for persona in persona_names()
    ]
)
def server(request: pytest.FixtureRequest, fleet: EmulatedFleet) -> Server:
    bmc = next(bmc for bmc in fleet.bmcs if bmc.persona == request.param)
    return Server(bmc, load_persona(bmc.persona), fleet)


def new_firmware(persona: Persona) -> tuple[str, bytes]:
    """The version and the package of a component that the BMC can flash without a restart of its own."""
    classes = {slot.component for slot in persona.slots.values() if slot.updateable}
    name = next(name for name in sorted(classes) if persona.components[name].activation not in ("bmc_reset", "none"))
    component = persona.components[name]
    return component.newest, build_package(Header(name, persona.name, component.newest), component.size_bytes)


def other_setting(persona: Persona) -> tuple[str, Attribute]:
    """A BIOS attribute that anybody may change, and a value that it does not have."""
    held = {dependency.attribute for dependency in persona.bios.dependencies}
    if persona.bios.cycle:
        held.add(persona.bios.cycle.attribute)
    for name, attribute in persona.bios.attributes.items():
        others = [value for value in attribute.allowed if value != attribute.value]
        locked = attribute.read_only or attribute.gray_out or attribute.immutable or attribute.hidden
        if others and not locked and name not in held:
            return name, others[0]
    raise LookupError(f"{persona.name} has no BIOS attribute to change")


def test_rf_power_reset(server: Server) -> None:
    """Off, and on again."""
    rf(server.bmc, "power_reset", *server.system, "--type", "ForceOff")
    wait_for(lambda: server.truth["power"] == "Off")
    assert "Current power state: Off" in rf(server.bmc, "power_reset", *server.system, "--info")
    rf(server.bmc, "power_reset", *server.system, "--type", "On")
    wait_for(lambda: server.truth["power"] == "On")


def test_rf_boot_override(server: Server) -> None:
    """A one-time override is set, shown, and used up by the restart that the script asks for."""
    before = server.truth["resets"]
    rf(server.bmc, "boot_override", *server.system, "--target", "Pxe")
    assert re.search(r"Target: Pxe;.*\n.*Enabled: Once;", rf(server.bmc, "boot_override", *server.system, "--info"))
    other = "Hdd" if "Hdd" in server.persona.boot.targets else "UefiHttp"
    rf(server.bmc, "boot_override", *server.system, "--target", other, "--reset")
    wait_for(lambda: "Enabled: Disabled" in rf(server.bmc, "boot_override", *server.system, "--info"))
    assert server.truth["resets"] > before


def test_rf_bios_settings(server: Server) -> None:
    """A new value is pending; where no job is needed, the next restart applies it."""
    if not server.persona.bios.attributes:
        assert "Bios" not in BmcClient(server.bmc).get(f"/redfish/v1/Systems/{server.persona.system.id}")
        return
    name, value = other_setting(server.persona)
    rf(server.bmc, "bios_settings", *server.system, "--attribute", name, str(value))
    assert value in (server.truth["bios_pending"].get(name), server.truth["bios"].get(name))
    assert re.search(rf"^\s*{name}\b", rf(server.bmc, "bios_settings", *server.system), re.MULTILINE)
    if not server.persona.bios.commit:
        rf(server.bmc, "power_reset", *server.system, "--type", "ForceRestart")
        wait_for(lambda: server.truth["bios"].get(name) == value)


def test_rf_update_from_a_file(server: Server, tmp_path: Path) -> None:
    """Multipart HTTP push; without it the script cannot send a file to a BMC that takes no SimpleUpdate either."""
    version, package = new_firmware(server.persona)
    (tmp_path / "package.fw").write_bytes(package)
    if server.persona.update.multipart_uri is None:
        assert "MultipartHttpPushUri" not in BmcClient(server.bmc).get("/redfish/v1/UpdateService")
        return
    rf(server.bmc, "update", "--image", str(tmp_path / "package.fw"))
    wait_for(lambda: server.has_firmware(version))


def test_rf_update_from_a_web_server(server: Server) -> None:
    """SimpleUpdate, where the BMC has it."""
    version, package = new_firmware(server.persona)
    with BootServer() as web:
        web.files["/package.fw"] = package
        if not server.persona.update.simple_update:
            with pytest.raises(AssertionError, match="does not support SimpleUpdate"):
                rf(server.bmc, "update", "--image", f"{web.url}/package.fw")
            return
        rf(server.bmc, "update", "--image", f"{web.url}/package.fw")
        assert ("/package.fw") in str(web.requests)
    wait_for(lambda: server.has_firmware(version))


def test_rf_sys_inventory(server: Server) -> None:
    """Every processor of the host and its GPUs are listed."""
    listed = rf(server.bmc, "sys_inventory")
    client = BmcClient(server.bmc)
    for system in client.get("/redfish/v1/Systems")["Members"]:
        processors = client.get(system["@odata.id"]).get("Processors")
        for processor in client.get(processors["@odata.id"])["Members"] if processors else []:
            assert processor["@odata.id"].rsplit("/", 1)[-1] in listed


def test_rf_firmware_inventory(server: Server) -> None:
    """The versions that run."""
    listed = rf(server.bmc, "firmware_inventory", "--id")
    missing = {name for name, entry in server.truth["firmware"].items() if entry["active"] not in listed}
    assert not missing


def test_rf_virtual_media(server: Server) -> None:
    """An image is inserted and ejected."""
    if not server.persona.services.virtual_media:
        with pytest.raises(AssertionError, match="does not support virtual media"):
            rf(server.bmc, "virtual_media", *server.system, "info")
        return
    image = "http://127.0.0.1:9/installer.iso"
    rf(server.bmc, "virtual_media", *server.system, "insert", "--image", image, "--mediatypes", "CD", "DVD", "USBStick")
    assert image in json.dumps(server.truth["media"])
    shown = rf(server.bmc, "virtual_media", *server.system, "info")
    drive = next(name for name, inside in server.truth["media"].items() if image in json.dumps(inside))
    assert image in shown
    rf(server.bmc, "virtual_media", *server.system, "eject", "--id", drive)
    assert image not in json.dumps(server.truth["media"])


def test_rf_event_service(server: Server) -> None:
    """A subscription that the script makes gets the BMC's test event; one that it deletes is gone."""
    if not server.persona.services.events:
        with pytest.raises(AssertionError, match="does not contain an event service"):
            rf(server.bmc, "event_service", "info")
        return
    client = BmcClient(server.bmc)
    with BootServer() as listener:
        rf(server.bmc, "event_service", "subscribe", "--destination", f"{listener.url}/events", "--context", "mine")
        action = client.get("/redfish/v1/EventService")["Actions"]["#EventService.SubmitTestEvent"]["target"]
        client.send("POST", action, json={"MessageId": "ResourceEvent.1.0.ResourceChanged"}).raise_for_status()
        event = json.loads(wait_for(lambda: listener.hellos)[0])
        assert event["Context"] == "mine" or event["Events"][0]["Context"] == "mine"
        shown = rf(server.bmc, "event_service", "info")  # while the listener is there: a dead one is unsubscribed
        assert f"{listener.url}/events" in shown
        for member in client.get("/redfish/v1/EventService/Subscriptions")["Members"]:
            rf(server.bmc, "event_service", "unsubscribe", "--id", member["@odata.id"].rsplit("/", 1)[-1])
    assert client.get("/redfish/v1/EventService/Subscriptions")["Members"] == []


def test_rf_accounts(server: Server) -> None:
    """A new account may log in with its own password only, and no longer when it is deleted."""
    guest = BmcClient(replace(server.bmc, username="guest1", password="Guest-password-1"))
    rf(server.bmc, "accounts", "--add", "guest1", "Guest-password-1", "ReadOnly")
    assert guest.send("GET", "/redfish/v1/Systems").status_code == 200
    assert re.search(r"guest1\s+\| ReadOnly", rf(server.bmc, "accounts"))
    rf(server.bmc, "accounts", "--setpassword", "guest1", "Guest-password-2")
    assert guest.send("GET", "/redfish/v1/Systems").status_code == 401
    rf(server.bmc, "accounts", "--delete", "guest1")
    guest.http.auth = ("guest1", "Guest-password-2")
    assert guest.send("GET", "/redfish/v1/Systems").status_code == 401


def test_rf_sensor_list(server: Server) -> None:
    """Temperatures in degrees, with thresholds."""
    rows = [line.split("|") for line in rf(server.bmc, "sensor_list").splitlines() if "|" in line]
    celsius = [float(row[1].split()[0]) for row in rows if re.match(r"\s*\d+(\.\d+)? C", row[1])]
    assert celsius
    assert all(0 < reading < 120 for reading in celsius)


def test_rf_logs(server: Server) -> None:
    """The event log is read and cleared; what a clearing leaves is not more than before."""
    client = BmcClient(server.bmc)
    place, service = next(log_services(client, server.persona))
    entries = client.get(service)["Entries"]["@odata.id"]
    before = client.get(entries)["Members@odata.count"]
    where = (*place, "--log", service.rsplit("/", 1)[-1])
    assert rf(server.bmc, "logs", *where)
    rf(server.bmc, "logs", *where, "--clear")
    assert client.get(entries)["Members@odata.count"] <= max(1, before)


def log_services(client: BmcClient, persona: Persona) -> Iterator[tuple[tuple[str, str], str]]:
    """Where the logs are that can be cleared: the script's option, and the URI."""
    for option, path in (("--system", f"Systems/{persona.system.id}"), ("--manager", f"Managers/{persona.bmc.id}")):
        services = client.get(f"/redfish/v1/{path}").get("LogServices")
        for member in client.get(services["@odata.id"])["Members"] if services else []:
            if "#LogService.ClearLog" in client.get(member["@odata.id"]).get("Actions", {}):
                yield (option, path.rsplit("/", 1)[-1]), member["@odata.id"]


def test_rf_manager_config(server: Server) -> None:
    """What the manager is and how it is reached."""
    manager = ("--manager", server.persona.bmc.id)
    assert "ManagerType: BMC" in rf(server.bmc, "manager_config", *manager, "info")
    assert server.bmc.address in rf(server.bmc, "manager_config", *manager, "getnet")
    assert re.search(r"HTTPS", rf(server.bmc, "manager_config", *manager, "getprotocol"))


def test_rf_certificates(server: Server) -> None:
    """The certificate that the BMC shows to its clients."""
    if not server.persona.services.certificates:
        with pytest.raises(AssertionError, match="does not contain a certificate service"):
            rf(server.bmc, "certificates", "info")
        return
    assert re.search(r"Subject|CommonName|Certificate", rf(server.bmc, "certificates", "info"))
