"""What goes wrong with updates of a BMC: each fault does what it says, over HTTPS."""

from tests.emulator.bmc_client import wait_for
from tests.emulator.one_bmc import BIOS, OneBmc
from tests.emulator.updates import INVENTORY, NEW_BIOS, SERVICE, START_UPDATE, ended, keys, package, push, tasks

OLD_BIOS = "BIOS Date: 08/04/2023 Ver 1.4"


def test_200_with_an_error_in_the_body_flashes_nothing(one: OneBmc) -> None:
    """F1, openbmc/bmcweb#75."""
    client = one.client()
    answer = one.flash("push-answers-200-with-error")
    assert answer.status_code == 200
    assert answer.json()["error"]["@Message.ExtendedInfo"][0]["MessageId"].endswith("InternalError")
    assert (tasks(client), one.staged()) == ([], None)


def test_an_activation_that_never_happens(one: OneBmc) -> None:
    """F2, openbmc/bmcweb#206: the entry stays in Updating, the task hears of it."""
    client = one.client()
    one.flash("activation-blocked")
    ended(client)
    client.reset("On")
    wait_for(lambda: one.truth()["phase"] == "no-bootable-device")
    assert one.staged() == NEW_BIOS
    bios = client.get(f"{INVENTORY}/BIOS")
    assert (bios["Version"], bios["Status"]["State"]) == (OLD_BIOS, "Updating")
    assert "ActivateFailed" in keys(tasks(client)[-1])
    one.clear_fault("activation-blocked")
    client.reset("ForceRestart")
    wait_for(lambda: client.get(f"{INVENTORY}/BIOS")["Version"] == NEW_BIOS)


def test_a_staged_image_that_looks_as_the_running_one(one: OneBmc) -> None:
    """F4, openbmc/openbmc-test-automation#2230."""
    client = one.client()
    one.flash("staged-shown-enabled")
    ended(client)
    states = [client.get(f"{INVENTORY}/{name}")["Status"]["State"] for name in ("BIOS", "Staging_BIOS")]
    assert states == ["Enabled", "Enabled"]


def test_multipart_without_a_file_is_refused(one: OneBmc) -> None:
    """F5, openbmc/webui-vue#140."""
    client = one.client()
    files = {"UpdateParameters": (None, "{}", "application/json")}
    answer = client.send("POST", f"{SERVICE}/upload", files=files)
    assert (answer.status_code, answer.json()["error"]["@Message.ExtendedInfo"][0]["MessageArgs"]) == (
        400,
        ["UpdateFile"],
    )


def test_only_the_plain_push_is_left(one: OneBmc) -> None:
    """F6, DMTF/Redfish-Tacklebox#99: HttpPushUri alone and 70 MiB."""
    client = one.client()
    one.set_fault("only-http-push", bytes=5000)
    service = client.get(SERVICE)
    assert "MultipartHttpPushUri" not in service
    assert "#UpdateService.SimpleUpdate" not in service["Actions"]
    assert service["MaxImageSizeBytes"] == 5000
    assert client.send("POST", f"{SERVICE}/upload", data=b"x").status_code == 404
    assert client.send("POST", service["HttpPushUri"], data=package("nic", "1")).status_code == 202
    ended(client)
    assert client.send("POST", service["HttpPushUri"], data=b"x" * 100_000).status_code == 413


def test_strict_parts(one: OneBmc) -> None:
    """F9, stmcginnis/gofish#132: names, order and media types of the parts."""
    client = one.client()
    one.set_fault("strict-parts")
    file = ("p.fw", package("bios", NEW_BIOS))
    named = {"UpdateFile": (*file, "application/octet-stream"), "UpdateParameters": (None, "{}", "application/json")}
    kind = {"UpdateParameters": (None, "{}", "text/plain"), "UpdateFile": (*file, "application/octet-stream")}
    for files, status in ((named, 400), (kind, 415)):
        assert client.send("POST", f"{SERVICE}/upload", files=files).status_code == status
    assert push(client, package("bios", NEW_BIOS), BIOS).status_code == 202


def test_an_error_and_then_no_devices(one: OneBmc) -> None:
    """F13, fwupd/fwupd#6954."""
    client = one.client()
    one.set_fault("inventory-empty-after-failure")
    assert client.get(INVENTORY)["Members@odata.count"] > 40
    one.flash("task-fails")
    assert "VerificationFailed" in keys(ended(client, "Exception"))
    assert client.get(INVENTORY)["Members"] == []


def test_images_are_only_uploaded(one: OneBmc) -> None:
    """F18, fwupd/fwupd#4836."""
    client = one.client()
    assert one.flash("needs-start-update").status_code == 200
    assert tasks(client) == []
    assert client.send("POST", START_UPDATE, json={}).status_code == 202
    ended(client)
    assert one.staged() == NEW_BIOS


def test_no_power_cycle_verb(one: OneBmc) -> None:
    """F23, dsx-ai-factory/infra-controller#3058: what needs one gets it as off and on."""
    client = one.client()
    one.set_fault("power-cycle-not-offered")
    reset = client.get("/redfish/v1/Systems/1")["Actions"]["#ComputerSystem.Reset"]
    assert "PowerCycle" not in reset.get("ResetType@Redfish.AllowableValues", ())
    assert client.reset("PowerCycle").status_code == 400
    push(client, package("cpld", "F5.11.CD"))
    ended(client)
    client.reset("On")
    wait_for(lambda: one.truth()["firmware"]["CPLD_Motherboard"]["active"] == "F5.11.CD")


def test_a_second_chassis_stays_old(one: OneBmc) -> None:
    """F24, dsx-ai-factory/infra-controller#3480."""
    client = one.client()
    one.set_fault("chassis-stays-old", prefix="HGX_")
    for component, version in (("fpga", "2.53"), ("cpld", "F5.11.CD")):
        push(client, package(component, version))
        ended(client)
    client.reset("PowerCycle")
    wait_for(lambda: one.truth()["firmware"]["CPLD_Motherboard"]["active"] == "F5.11.CD")
    assert one.staged("HGX_FW_FPGA_0") == "2.53"
    one.act("power-loss")
    one.act("power-restore")
    assert one.truth()["firmware"]["HGX_FW_FPGA_0"]["active"] == "2.53"


def test_only_pulled_cords_reach_a_chassis(one: OneBmc) -> None:
    """dsx-ai-factory/infra-controller#3480: the BMC has no verb for it, and the one for standby power is not enough."""
    client = one.client()
    host = "/redfish/v1/Systems/1"
    verb = client.get(host)["Actions"]["Oem"]["#OemSystemExtensions.Reset"]["target"]
    one.set_fault("chassis-stays-old", prefix="HGX_", mains=True)
    one.set_fault("power-cut-not-offered")
    assert "#OemSystemExtensions.Reset" not in client.get(host)["Actions"].get("Oem", {})
    assert client.send("POST", verb, json={"ResetType": "ACCycle"}).status_code == 404
    push(client, package("fpga", "2.53"))
    ended(client)
    client.reset("PowerCycle")
    wait_for(lambda: one.truth()["power"] == "On")
    assert one.staged("HGX_FW_FPGA_0") == "2.53"
    one.act("power-loss")
    one.act("power-restore")
    assert one.truth()["firmware"]["HGX_FW_FPGA_0"]["active"] == "2.53"
    one.clear_fault("power-cut-not-offered")
    assert client.get(host)["Actions"]["Oem"]["#OemSystemExtensions.Reset"]["target"] == verb


def test_one_target_at_a_time(one: OneBmc) -> None:
    """F32, ansible-collections/community.general#5580."""
    client = one.client()
    one.set_fault("one-target-only")
    two = {"Targets": [f"{INVENTORY}/NIC1", f"{INVENTORY}/NIC2"]}
    assert push(client, package("nic", "28.39.40.82"), two).status_code == 400
    assert push(client, package("nic", "28.39.40.82"), {"Targets": two["Targets"][:1]}).status_code == 202


def test_the_update_service_is_broken(one: OneBmc) -> None:
    """F38, Intel-BMC/openbmc#45."""
    client = one.client()
    one.set_fault("update-service-500", times=1)
    assert [client.send("GET", SERVICE).status_code for _ in range(2)] == [500, 200]


def test_versions_that_wait_or_are_gone_are_shown_as_running(one: OneBmc) -> None:
    """H11: pending values as current, and an inventory that is stale until the BMC is reset."""
    client = one.client()
    one.flash("pending-shown-as-current")
    ended(client)
    assert client.get(f"{INVENTORY}/BIOS")["Version"] == NEW_BIOS
    assert one.truth()["firmware"]["BIOS"]["active"] == OLD_BIOS
    one.clear_fault("pending-shown-as-current")
    one.set_fault("inventory-stale")
    client.reset("On")
    wait_for(lambda: one.truth()["firmware"]["BIOS"]["active"] == NEW_BIOS)
    assert client.get(f"{INVENTORY}/BIOS")["Version"] == OLD_BIOS
    client.send("POST", "/redfish/v1/Managers/1/Actions/Manager.Reset", json={"ResetType": "GracefulRestart"})
    wait_for(one.restarted)
    assert one.client().get(f"{INVENTORY}/BIOS")["Version"] == NEW_BIOS


def test_new_firmware_renames_its_parts(one: OneBmc) -> None:
    """H13: MGX_FW_BMC_0 became FW_BMC_0."""
    one.set_fault("inventory-renamed", old="HGX_FW_", new="FW_")
    assert one.client().send("GET", f"{INVENTORY}/HGX_FW_BMC_0").status_code == 200
    client = one.flash_bmc()
    assert client.send("GET", f"{INVENTORY}/HGX_FW_BMC_0").status_code == 404
    assert client.get(f"{INVENTORY}/FW_BMC_0")["Version"] == "HGX-22.10-1-rc34"


def test_a_downgrade_needs_force(one: OneBmc) -> None:
    """H8 and H9: refused by policy, passed with ForceUpdate."""
    client = one.client()
    one.set_fault("downgrade-blocked")
    old = {"Targets": [f"{INVENTORY}/NIC1"]}
    push(client, package("nic", "28.9.1"), old)
    assert "ForceUpdate" in ended(client, "Exception")["Messages"][-1]["Message"]
    push(client, package("nic", "28.9.1"), {**old, "ForceUpdate": True})
    ended(client)
    push(client, package("nic", "28.100.1"), {"Targets": [f"{INVENTORY}/NIC2"]})
    ended(client)
    assert (one.staged("NIC1"), one.staged("NIC2")) == ("28.9.1", "28.100.1")


def test_a_method_is_advertised_and_refused(one: OneBmc) -> None:
    """A missing licence: the action is there and answers with an error of its own."""
    client = one.client()
    one.set_fault("update-method-refused", method="multipart", status=403, text="Not licensed.")
    answer = push(client, package("bios", NEW_BIOS), BIOS)
    assert (answer.status_code, "Not licensed." in answer.text, tasks(client)) == (403, True, [])
    body = {"ImageURI": "http://127.0.0.1:9/x"}
    simple = client.send("POST", f"{SERVICE}/Actions/UpdateService.SimpleUpdate", json=body)
    assert simple.status_code == 202
