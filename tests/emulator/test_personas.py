"""What the emulated servers do that others do not, and what all of them can: boot, take firmware, be cycled."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emulator.package import packages, write_packages
from emulator.persona.load import load_persona, persona_names
from emulator.persona.persona import Persona
from emulator.testing import Bmc, EmulatedFleet, RunningBmc
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer, build_root
from tests.emulator.conftest import Museum
from tests.emulator.updates import INVENTORY, SERVICE, package, push

_PASSWORD = "Changed-once-1"
_BASEBOARD = "/redfish/v1/Systems/HGX_Baseboard_0"


def taken_over(bmc: RunningBmc) -> BmcClient:
    """A client of a BMC that may want its factory password changed."""
    accounts = load_persona(bmc.persona).accounts
    if not accounts.change_required:
        return BmcClient(bmc)
    path = f"/redfish/v1/AccountService/Accounts/{accounts.id}"
    BmcClient(bmc).send("PATCH", path, json={"Password": _PASSWORD}).raise_for_status()
    return BmcClient(replace(bmc, password=_PASSWORD))


def change(client: BmcClient, path: str, body: dict[str, Any]) -> int:
    """PATCH with the ETag of now; the status of the answer."""
    etag = client.send("GET", path).headers.get("ETag")
    return client.send("PATCH", path, json=body, headers={"If-Match": etag} if etag else {}).status_code


@pytest.fixture(scope="module")
def booting() -> Iterator[tuple[BootServer, dict[str, BmcClient]]]:
    """One BMC of each kind, and a boot service with a root for all of them."""
    with (
        BootServer() as server,
        EmulatedFleet([Bmc(name) for name in persona_names()], boot_service=server.url) as all_,
    ):
        server.offer("/boot/ipxe", build_root())
        yield server, {bmc.persona: taken_over(bmc) for bmc in all_.bmcs}


@pytest.mark.parametrize("name", persona_names())
def test_the_host_of_every_server_boots_from_the_network(
    booting: tuple[BootServer, dict[str, BmcClient]], name: str
) -> None:
    """PXE, once its BIOS allows it; iPXE's settings say which host asks."""
    server, clients = booting
    client, persona = clients[name], load_persona(name)
    system = f"/redfish/v1/Systems/{persona.system.id}"
    wanted = {key: value for key, value in persona.boot.pxe_needs.items() if persona.factory_bios[key] != value}
    if wanted:
        bios = client.get(f"{system}/Bios")
        settings = bios["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
        assert change(client, settings, {"Attributes": wanted}) in (200, 202, 204)
    boot = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}
    assert change(client, system, {"Boot": boot}) in (200, 204)
    assert client.reset("On").status_code == 204
    wait_for(lambda: client.get(system)["BootProgress"]["LastState"] == "OSRunning")
    asked = [path for path, _agent in server.requests if f"serial={client.bmc.serial}" in path]
    assert asked
    assert all(f"arch={persona.arch}" in path for path in asked)


@pytest.mark.parametrize("name", persona_names())
def test_every_server_has_packages_for_what_can_be_updated(tmp_path: Path, name: str) -> None:
    """`firstlight-emulator firmware`: the newest of each component class, and the factory's to go back to."""
    persona = load_persona(name)
    written = list(write_packages(tmp_path, [persona]))
    boards = 2 * len(persona.update.boards)
    assert len(written) == len(set(written)) == len(packages(persona)) + boards
    updateable = {slot.component for slot in persona.slots.values() if slot.updateable}
    assert updateable <= {header.component for header in packages(persona)}
    for component in ("bmc", "bios"):
        factory = {slot.version for slot in persona.slots.values() if slot.component == component}
        assert persona.components[component].newest not in factory


def pushing() -> list[str]:
    """Those that take a package for one device in one step."""
    found = ((name, load_persona(name).update) for name in persona_names())
    return [name for name, update in found if update.multipart_uri and not update.two_step]


@pytest.mark.parametrize("name", pushing())
def test_a_new_bmc_firmware_runs_after_its_update(name: str) -> None:
    """Multipart push, activation by a restart of the BMC."""
    persona = load_persona(name)
    with EmulatedFleet([Bmc(name)]) as fleet:
        client = taken_over(fleet.bmcs[0])
        slot = next(slot for slot in persona.slots.values() if slot.component == "bmc")
        old, new = slot.inventory_id(slot.version), persona.components["bmc"].newest
        body = {"Targets": [f"{INVENTORY}/{old}"]}
        assert push(client, package("bmc", new, name), body).status_code == 202
        wait_for(lambda: fleet.truth("r01-u01")["firmware"][slot.key]["active"] == new)
        manager = f"/redfish/v1/Managers/{persona.bmc.id}"
        wait_for(lambda: client.send("GET", manager).status_code == 200)
        assert client.get(manager)["FirmwareVersion"] == new


@pytest.mark.parametrize("name", [name for name in persona_names() if load_persona(name).cycles])
def test_the_power_verb_of_every_server_is_offered_where_it_is_taken(museum: Museum, name: str) -> None:
    """Supermicro ACCycle, Lenovo ACPowerCycle, HPE AuxCycle, NVIDIA AuxPowerReset and Chassis.Reset."""
    client = BmcClient(museum[name])
    for cycle in load_persona(name).cycles:
        owner = cycle.target.partition("/Actions/")[0]
        found: Any = client.get(owner)
        for part in (*cycle.inside, f"#{cycle.action}"):
            found = found[part]
        assert found["target"] == cycle.target
        assert cycle.value in found[f"{cycle.parameter}@Redfish.AllowableValues"]
        answer = client.send("POST", cycle.target, json={cycle.parameter: "Nonsense"})
        assert answer.status_code == 400


def boards() -> list[Persona]:
    return [load_persona(name) for name in persona_names() if load_persona(name).baseboard]


@pytest.mark.parametrize("persona", boards(), ids=lambda persona: persona.name)
def test_gpus_are_processors_of_the_baseboard(museum: Museum, persona: Persona) -> None:
    """The recorded DGX H100 and GB200 tray: HGX_Baseboard_0 has them; on DGX it shows no CPU and no DIMM."""
    client = BmcClient(museum[persona.name])
    ids = {link["@odata.id"].rpartition("/")[2] for link in client.get(f"{_BASEBOARD}/Processors")["Members"]}
    cpus = set(persona.system.cpu_ids) if persona.baseboard_cpus else set()
    assert ids == {*persona.gpus.ids, *cpus}
    memory = client.get(f"{_BASEBOARD}/Memory")["Members"]
    assert len(memory) == len(persona.gpus.ids) + (persona.system.dimms if persona.baseboard_cpus else 0)
    total = client.get(_BASEBOARD)["MemorySummary"]["TotalSystemMemoryGiB"]
    assert persona.baseboard_cpus or total == persona.gpus.memory_gib * len(persona.gpus.ids)


def test_dgx_writes_need_if_match_and_what_cannot_be_written_says_so() -> None:
    """AMI MegaRAC on DGX H100: If-Match is compulsory. RFC 6585, 428; DSP0266, 405 comes first."""
    with EmulatedFleet([Bmc("dgx-h100")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        boot = {"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}
        future = client.get("/redfish/v1/Systems/DGX")["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
        assert future == "/redfish/v1/Systems/DGX/SD"
        assert client.send("PATCH", future, json=boot).status_code == 428
        assert change(client, future, boot) == 204
        assert client.get("/redfish/v1/Systems/DGX")["Boot"]["BootSourceOverrideTarget"] == "Pxe"
        assert client.send("PATCH", "/redfish/v1", json={"Name": "x"}).status_code == 405


def test_dgx_gpu_tray_is_one_target() -> None:
    """NVIDIA DGX H100 firmware update guide: the target HGX_0 stands for the whole tray."""
    with EmulatedFleet([Bmc("dgx-h100")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert (
            push(client, package("gpu-vbios", "9", "dgx-h100"), {"Targets": [f"{INVENTORY}/HGX_0"]}).status_code == 202
        )
        staged = wait_for(lambda: [key for key, one in fleet.truth("r01-u01")["firmware"].items() if one["staged"]])
        assert sorted(staged) == [f"HGX_FW_GPU_SXM_{number}" for number in range(1, 9)]


def test_hpe_numbers_its_inventory_and_keeps_the_boot_mode(museum: Museum) -> None:
    """The recorded XL675d, iLO 5; ansible-collections/community.general#3509."""
    client = BmcClient(museum["hpe-xl675d"])
    members = client.get(INVENTORY)["Members"]
    assert all(member["@odata.id"].rpartition("/")[2].isdigit() for member in members)
    assert client.get(f"{INVENTORY}/10")["Name"] == "Redundant System ROM"
    assert client.get(f"{INVENTORY}/10")["Version"] == client.get(f"{INVENTORY}/2")["Version"]
    boot = {"BootSourceOverrideMode": "UEFI", "BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}
    assert client.send("PATCH", "/redfish/v1/Systems/1", json={"Boot": boot}).status_code == 400
    gpus = [
        client.get(f"/redfish/v1/Chassis/1/PCIeDevices/{gpu}")["Model"] for gpu in load_persona("hpe-xl675d").gpus.ids
    ]
    assert gpus == ["NVIDIA A100-SXM4-40GB"] * 8


def test_hpe_keeps_the_system_rom_that_ran_before() -> None:
    """iLO 5: the redundant ROM is the one before."""
    with EmulatedFleet([Bmc("hpe-xl675d")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        new = load_persona("hpe-xl675d").components["bios"].newest
        uri = client.get(SERVICE)["HttpPushUri"]
        assert uri == "/cgi-bin/uploadFile"
        assert client.send("POST", uri, data=package("bios", new, "hpe-xl675d")).status_code == 202
        wait_for(lambda: fleet.truth("r01-u01")["firmware"]["2"]["staged"] == new)
        client.reset("On")
        wait_for(lambda: client.get(f"{INVENTORY}/2")["Version"] == new)
        assert client.get(f"{INVENTORY}/10")["Version"] == "A47 v2.58 (05/19/2022)"
        assert client.get("/redfish/v1/Systems/1")["BiosVersion"] == new


def test_lenovo_says_that_nothing_is_pending(museum: Museum) -> None:
    """The recorded SR670 V2: BMC-Primary-Pending is `-*`, UEFI-Pending is null, the backup is its own image."""
    client = BmcClient(museum["lenovo-sr670v2"])
    assert client.get(f"{INVENTORY}/BMC-Primary-Pending")["Version"] == "-*"
    assert client.get(f"{INVENTORY}/UEFI-Pending")["Version"] is None
    assert client.get(f"{INVENTORY}/BMC-Backup")["Version"] == client.get(f"{INVENTORY}/BMC-Primary")["Version"]
    settings = "/redfish/v1/Systems/1/Bios/Pending"
    assert client.get("/redfish/v1/Systems/1/Bios")["@Redfish.Settings"]["SettingsObject"]["@odata.id"] == settings
    refused = client.send("PATCH", settings, json={"Attributes": {"Processors_CStates": "Disabled"}})
    assert refused.status_code == 400, "greyed out until the operating mode is CustomMode"


def test_a_switch_tray_has_switches_and_leak_detectors_and_little_else(museum: Museum) -> None:
    """The recorded N5110_LD: no BIOS settings, fans or supplies; 144 NVLink ports behind two switches."""
    client = BmcClient(museum["nvlink-switch-tray"])
    assert "Bios" not in client.get("/redfish/v1/Systems/System_0")
    fabric = "/redfish/v1/Fabrics/MGX_NVLinkFabric_0/Switches"
    ports = [len(client.get(f"{fabric}/NVSwitch_{number}/Ports")["Members"]) for number in (0, 1)]
    assert ports == [72, 72]
    assert len(client.get("/redfish/v1/Chassis/System_0/LeakDetectors")["Members"]) == 7
    assert "Fans" not in client.get("/redfish/v1/Chassis/System_0/ThermalSubsystem")
    entry = client.get(f"{INVENTORY}/MGX_FW_NVSwitch_0")
    assert entry["Oem"]["Nvidia"]["InactiveFirmwareSlot"]["Version"] == entry["Version"]


@pytest.mark.parametrize("name", ["bluefield-3", "nvlink-switch-tray", "gb200-compute-tray", "lenovo-sr670v2"])
def test_a_known_factory_password_opens_nothing_but_its_change(name: str) -> None:
    """NVIDIA's BMCs: root and 0penBmc; Lenovo's: USERID and PASSW0RD. DSP0266, PasswordChangeRequired."""
    with EmulatedFleet([Bmc(name)]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert client.http.auth in (("root", "0penBmc"), ("USERID", "PASSW0RD"))
        assert client.send("GET", "/redfish/v1/Systems").status_code == 403
        assert taken_over(fleet.bmcs[0]).get("/redfish/v1/Systems")["Members"]


def test_a_dpu_shows_golden_images_without_a_version(museum: Museum) -> None:
    """The recorded BlueField-3: `version not available`; what came with the bundle cannot be updated by itself."""
    client = BmcClient(museum["bluefield-3"])
    assert client.get(f"{INVENTORY}/golden_image_arm")["Version"] == "version not available"
    assert client.get(f"{INVENTORY}/DPU_NIC")["Updateable"] is False
    assert client.get("/redfish/v1/Systems/Bluefield")["BiosVersion"] == client.get(f"{INVENTORY}/DPU_UEFI")["Version"]
