"""The ways in which firmware reaches an emulated BMC, over HTTPS."""

import base64
import datetime as dt
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer
from tests.emulator.updates import (
    INVENTORY,
    NEW_BIOS,
    SERVICE,
    SIMPLE_UPDATE,
    START_UPDATE,
    TASKS,
    ended,
    keys,
    locked_server,
    package,
    pldm,
    push,
    taken_over,
    tasks,
)

HGX, DELL, GB200 = "r01-u01", "r01-u02", "r01-u03"
APPLY = "@Redfish.OperationApplyTime"


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    with EmulatedFleet([Bmc("hgx-h100"), Bmc("dell-xe9680"), Bmc("gb200-compute-tray")]) as running:
        taken_over(running.bmcs[2])
        yield running


def staged(fleet: EmulatedFleet, name: str) -> dict[str, str]:
    return {key: one["staged"] for key, one in fleet.truth(name)["firmware"].items() if one["staged"]}


def gb200(fleet: EmulatedFleet) -> BmcClient:
    client = BmcClient(fleet.bmcs[2])
    client.http.auth = ("root", "Changed-once-1")
    return client


def test_simple_update_logs_in_at_the_image_server(fleet: EmulatedFleet) -> None:
    """DSP0268, UpdateService.SimpleUpdate: Username and Password; the task does not show them."""
    client = BmcClient(fleet.bmcs[0])
    with locked_server(package("nic", "28.39.40.82"), "images", "secret-1") as url:
        body = {"ImageURI": f"{url}/x.fw", "Targets": [f"{INVENTORY}/NIC1"]}
        client.send("POST", SIMPLE_UPDATE, json=body)
        assert "401" in ended(client, "Exception")["Messages"][-1]["Message"]
        body |= {"Username": "images", "Password": "secret-1"}
        client.send("POST", SIMPLE_UPDATE, json=body)
        assert "secret-1" not in str(ended(client))
    assert staged(fleet, HGX)["NIC1"] == "28.39.40.82"


def test_an_address_without_a_scheme_takes_the_transfer_protocol(fleet: EmulatedFleet) -> None:
    """DSP0268: TransferProtocol is for ImageURIs that have no scheme."""
    client = BmcClient(fleet.bmcs[0])
    with BootServer() as server:
        server.files["/p.fw"] = package("nic", "28.39.40.82")
        address = f"{server.url.removeprefix('http://')}/p.fw"
        assert client.send("POST", SIMPLE_UPDATE, json={"ImageURI": address}).status_code == 400
        body = {"ImageURI": address, "TransferProtocol": "HTTP", "Targets": [f"{INVENTORY}/NIC2"]}
        assert client.send("POST", SIMPLE_UPDATE, json=body).status_code == 202
        ended(client)
    assert staged(fleet, HGX)["NIC2"] == "28.39.40.82"


def test_a_protocol_without_a_server_ends_in_the_task(fleet: EmulatedFleet) -> None:
    """iDRAC lists TFTP; what fails is the transfer, not the request."""
    client = BmcClient(fleet.bmcs[1])
    body = {"ImageURI": "tftp://127.0.0.1/x.fw", "TransferProtocol": "TFTP"}
    assert client.send("POST", SIMPLE_UPDATE, json=body).status_code == 202
    assert "TFTP" in ended(client, "Exception")["Messages"][-1]["Message"]
    body = {"ImageURI": "scp://127.0.0.1/x.fw", "TransferProtocol": "SCP"}
    assert client.send("POST", SIMPLE_UPDATE, json=body).status_code == 400


def test_an_upload_waits_for_start_update(fleet: EmulatedFleet) -> None:
    """fwupd PR 4836: with OnStartUpdateRequest there is no task before UpdateService.StartUpdate."""
    client = BmcClient(fleet.bmcs[0])
    before = len(tasks(client))
    parameters = {"Targets": [f"{INVENTORY}/CPLD_Motherboard"], APPLY: "OnStartUpdateRequest"}
    assert push(client, package("cpld", "F5.11.CD"), parameters).status_code == 200
    assert len(tasks(client)) == before
    assert "CPLD_Motherboard" not in staged(fleet, HGX)
    assert client.send("POST", START_UPDATE, json={}).status_code == 202
    task = ended(client)
    assert "CPLD_Motherboard" in task["Payload"]["JsonBody"]
    assert staged(fleet, HGX)["CPLD_Motherboard"] == "F5.11.CD"
    assert client.send("POST", START_UPDATE, json={}).status_code == 400


def test_an_apply_time_that_is_not_supported_is_refused(fleet: EmulatedFleet) -> None:
    """DSP0266: only values of @Redfish.OperationApplyTimeSupport."""
    client = BmcClient(fleet.bmcs[0])
    supported = client.get(SERVICE)["MultipartHttpPushUri@Redfish.OperationApplyTimeSupport"]["SupportedValues"]
    assert supported == ["Immediate", "OnStartUpdateRequest"]
    answer = push(client, package("bios", NEW_BIOS), {APPLY: "OnReset"})
    assert (answer.status_code, "PropertyValueNotInList" in answer.text) == (400, True)


def test_dell_two_step_push_and_install(fleet: EmulatedFleet) -> None:
    """iDRAC: a push into the inventory needs its ETag and makes an Available- entry, which Install then takes."""
    client = BmcClient(fleet.bmcs[1])
    content = package("nic", "28.39.40.82", "dell-xe9680")
    assert client.send("POST", INVENTORY, data=content).status_code == 412
    etag = client.send("GET", INVENTORY).headers["ETag"]
    answer = client.send("POST", INVENTORY, data=content, headers={"If-Match": etag})
    assert answer.status_code == 201
    where = answer.headers["Location"]
    assert where == f"{INVENTORY}/Available-0-28.39.40.82__NIC.Slot.31-1"
    assert client.get(where)["Version"] == "28.39.40.82"
    assert staged(fleet, DELL) == {}
    install = client.get(SERVICE)["Actions"]["Oem"]["#DellUpdateService.Install"]["target"]
    body = {"SoftwareIdentityURIs": [where], "InstallUpon": "Now"}
    assert client.send("POST", install, json=body).status_code == 202
    ended(client)
    assert set(staged(fleet, DELL).values()) == {"28.39.40.82"}
    assert client.send("POST", install, json=body).status_code == 400


def test_simple_update_takes_what_was_pushed_before(fleet: EmulatedFleet) -> None:
    """iDRAC: ImageURI may be an Available- entry."""
    client = BmcClient(fleet.bmcs[1])
    headers = {"If-Match": client.send("GET", INVENTORY).headers["ETag"]}
    where = client.send("POST", INVENTORY, data=package("cpld", "1.2.6", "dell-xe9680"), headers=headers).headers[
        "Location"
    ]
    assert client.send("POST", SIMPLE_UPDATE, json={"ImageURI": where}).status_code == 202
    ended(client)
    assert staged(fleet, DELL)["Installed-27763-1.2.3__CPLD.Embedded.1"] == "1.2.6"


def test_a_group_stands_for_every_part_of_the_chassis(fleet: EmulatedFleet) -> None:
    """open-nvfwupd: GB200 takes the HGX chassis as target, and an empty list as the BMC tray."""
    client = gb200(fleet)
    content = package("erot", "01.04.0031.0000_n04", "gb200-compute-tray")
    push(client, content, {"Targets": ["/redfish/v1/Chassis/HGX_Chassis_0"]})
    ended(client)
    assert {name for name in staged(fleet, GB200) if "ERoT" in name} == {
        "HGX_FW_ERoT_BMC_0",
        "HGX_FW_ERoT_CPU_0",
        "HGX_FW_ERoT_CPU_1",
        "HGX_FW_ERoT_FPGA_0",
        "HGX_FW_ERoT_FPGA_1",
    }
    push(client, content, {"Targets": []})
    ended(client)
    assert "FW_ERoT_BMC_0" in staged(fleet, GB200)
    refused = push(client, content, {"Targets": ["/redfish/v1/Chassis/Chassis_0"]})
    assert refused.status_code == 400


def test_options_of_the_plain_push_are_read_back(fleet: EmulatedFleet) -> None:
    """DSP0268, HttpPushUriOptions and HttpPushUriTargetsBusy: how clients take turns."""
    client = gb200(fleet)
    options = {"HttpPushUriApplyTime": {"ApplyTime": "Immediate"}, "ForceUpdate": True}
    body = {"HttpPushUriOptions": options, "HttpPushUriTargetsBusy": True, "HttpPushUriOptionsBusy": True}
    assert client.send("PATCH", SERVICE, json=body).status_code == 204
    service = client.get(SERVICE)
    assert {name: service[name] for name in body} == body
    wrong = {"HttpPushUriOptions": {"HttpPushUriApplyTime": {"ApplyTime": "Tomorrow"}}}
    assert client.send("PATCH", SERVICE, json=wrong).status_code == 400
    assert client.send("PATCH", SERVICE, json={"MaxImageSizeBytes": 1}).status_code == 400
    client.send("PATCH", SERVICE, json={"HttpPushUriTargetsBusy": False, "HttpPushUriOptionsBusy": False})


def test_an_image_that_is_too_large_is_refused_by_its_declared_length(fleet: EmulatedFleet) -> None:
    """MaxImageSizeBytes, for pushes and for what the BMC fetches."""
    fleet.set_fault(HGX, "image-size-limit", {"bytes": 100_000})
    client = BmcClient(fleet.bmcs[0])
    assert client.get(SERVICE)["MaxImageSizeBytes"] == 100_000
    assert push(client, package("nic", "1") + b"x" * 300_000).status_code == 413
    assert push(client, package("nic", "1") + b"x" * 98_000).status_code == 413
    with BootServer() as server:
        server.files["/p.fw"] = b"x" * 300_000
        client.send("POST", SIMPLE_UPDATE, json={"ImageURI": f"{server.url}/p.fw"})
        assert "100000 bytes" in ended(client, "Exception")["Messages"][-1]["Message"]
    fleet.clear_fault(HGX, "image-size-limit")


def test_a_client_that_asks_first_sends_no_image_that_is_too_large(fleet: EmulatedFleet) -> None:
    """RFC 9110, Expect: 100-continue; OpenBMC closes the connection in the middle instead."""
    bmc = fleet.bmcs[2]
    login = base64.b64encode(b"root:Changed-once-1").decode()
    head = (
        f"POST {gb200(fleet).get(SERVICE)['HttpPushUri']} HTTP/1.1\r\nHost: bmc\r\nAuthorization: Basic {login}\r\n"
        "Content-Length: 209800000\r\nExpect: 100-continue\r\n\r\n"
    )
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((bmc.address, bmc.port), 10) as plain, context.wrap_socket(plain) as connection:
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_large_image_costs_the_emulator_no_memory(fleet: EmulatedFleet) -> None:
    """Ten thousand BMCs take packages of 200 MB at once: the start is kept, the rest counted."""
    client = BmcClient(fleet.bmcs[0])

    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="UpdateFile"; filename="p"\r\n\r\n'
        yield package("psu", "1")
        for _ in range(64):
            yield b"x" * 2**20
        yield b"\r\n--b--\r\n"

    before = _peak_mib(fleet)
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = client.send("POST", f"{SERVICE}/upload", data=body(), headers=headers, timeout=60)
    assert answer.status_code == 202, answer.text
    ended(client, "Exception")
    assert _peak_mib(fleet) - before < 24


def _peak_mib(fleet: EmulatedFleet) -> int:
    assert fleet._process
    lines = Path(f"/proc/{fleet._process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def test_a_package_in_the_form_of_dsp0267_names_its_component_class(fleet: EmulatedFleet) -> None:
    """DSP0267 1.0; NVIDIA packages list component names in the set-version string."""
    client = gb200(fleet)
    push(client, pldm("cpld,fpga", ["0x00 0x0b 0x03 0x05", "1.60"]))
    task = ended(client)
    assert keys(task)[:3] == ["TargetDetermined", "AllTargetsDetermined", "TransferringToComponent"]
    found = staged(fleet, GB200)
    assert (found["FW_CPLD_3"], found["HGX_FW_FPGA_1"]) == ("0x00 0x0b 0x03 0x05", "1.60")
    push(client, pldm("toaster", ["1"]))
    assert "toaster" in ended(client, "Exception")["Messages"][-1]["Message"]
    push(client, pldm("cpld", ["1"])[:60])
    ended(client, "Exception")
    broken = bytearray(pldm("cpld", ["1"]))
    broken[45] ^= 1
    push(client, bytes(broken))
    assert "checksum" in ended(client, "Exception")["Messages"][-1]["Message"]


def test_an_update_in_a_maintenance_window_needs_one_in_the_future(fleet: EmulatedFleet) -> None:
    """DSP0268, MaintenanceWindow: a window apply time without its window, or with one that is over, is refused."""
    client = BmcClient(fleet.bmcs[1])
    past = (dt.datetime.now(dt.UTC) - dt.timedelta(hours=2)).isoformat()
    for window in (None, {"MaintenanceWindowStartTime": past, "MaintenanceWindowDurationInSeconds": 60}):
        body = {APPLY: "AtMaintenanceWindowStart", **({"@Redfish.MaintenanceWindow": window} if window else {})}
        assert push(client, package("bios", "2.5.4", "dell-xe9680"), body).status_code == 400


def test_a_server_certificate_is_checked_when_the_service_says_so() -> None:
    """H18: an image behind a certificate that the BMC refuses; VerifyRemoteServerCertificate of Lenovo's XCC."""
    with EmulatedFleet([Bmc("hgx-h100"), Bmc("hgx-h100")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert "VerifyRemoteServerCertificate" not in client.get(SERVICE)
        image = {"ImageURI": f"{fleet.bmcs[1].url}/redfish/v1", "TransferProtocol": "HTTPS"}
        client.send("POST", SIMPLE_UPDATE, json=image)
        said = ended(client, "Exception")["Messages"][-1]["Message"]
        assert "not a firmware package" in said


def test_busy_updates_are_refused_while_one_waits_for_nothing(fleet: EmulatedFleet) -> None:
    """H15: a task of somebody else."""
    fleet.set_fault(HGX, "foreign-task")
    client = BmcClient(fleet.bmcs[0])
    assert any(task["Name"] == "Update by another client" for task in tasks(client))
    assert push(client, package("bios", NEW_BIOS)).status_code == 503
    fleet.clear_fault(HGX, "foreign-task")
    wait_for(lambda: all(task["Name"] != "Update by another client" for task in tasks(client)))
    assert client.send("GET", f"{TASKS}/foreign").status_code == 404
