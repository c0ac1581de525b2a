"""LogServices: what is written to them, clearing, diagnostic data, and what goes wrong with them."""

import time
from typing import Any

import redfish
import redfish_utilities

from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.one_bmc import OneBmc

SEL = "/redfish/v1/Systems/1/LogServices/Log1"
BMC_LOG = "/redfish/v1/Managers/1/LogServices/Log1"


def entries(client: BmcClient, log: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{log}/Entries")["Members"]
    return found


def fail_to_log_in(client: BmcClient) -> None:
    body = {"UserName": "nobody", "Password": "wrong"}
    assert client.send("POST", "/redfish/v1/SessionService/Sessions", json=body).status_code == 401


def test_log_begins_with_one_record(client: BmcClient) -> None:
    """OCP UBB baseline: every log has an entry, a description and a count."""
    collection = client.get(f"{BMC_LOG}/Entries")
    assert collection["Description"]
    assert collection["Members@odata.count"] == len(collection["Members"]) == 1
    first = collection["Members"][0]
    assert client.get(first["@odata.id"])["MessageId"] == "OpenBMC.0.4.LogStarted"
    assert client.send("GET", f"{BMC_LOG}/Entries/99").status_code == 404


def test_power_and_boot_are_in_the_event_log_of_the_system(client: BmcClient) -> None:
    """IPMI 2.0, table 42-3: sensor types 22h and 0Fh; DSP0268, LogEntry of EntryType SEL."""
    client.reset("On")
    found = wait_for(lambda: [one for one in entries(client, SEL) if one["MessageId"].endswith("BootProgress")])
    assert {one["EntryType"] for one in entries(client, SEL)} == {"SEL"}
    assert found[0]["SensorType"] == "System Firmware Progress"
    assert found[0]["EntryCode"] == "Assert"
    power = next(one for one in entries(client, SEL) if one["MessageId"].endswith("ResourcePoweredOn"))
    assert power["SensorType"] == "System ACPI PowerState"
    assert power["Links"]["OriginOfCondition"] == {"@odata.id": "/redfish/v1/Systems/1"}


def test_logins_that_fail_are_in_the_log_of_the_bmc(client: BmcClient) -> None:
    """OpenBMC, InvalidLoginAttempted; a record belongs to the log of its topic only."""
    fail_to_log_in(client)
    (_, second) = entries(client, BMC_LOG)
    assert (second["EntryType"], second["Severity"]) == ("Event", "Warning")
    assert len(entries(client, SEL)) == 1


def test_log_is_cleared_and_says_so(client: BmcClient) -> None:
    """DSP0268, LogService.ClearLog."""
    fail_to_log_in(client)
    assert client.send("POST", f"{BMC_LOG}/Actions/LogService.ClearLog", json={}).status_code == 204
    (only,) = entries(client, BMC_LOG)
    assert only["MessageId"] == "OpenBMC.0.4.LogCleared"


def test_log_holds_the_newest_records(client: BmcClient) -> None:
    """DSP0268, OverWritePolicy WrapsWhenFull and MaxNumberOfRecords."""
    service = client.get(BMC_LOG)
    assert service["OverWritePolicy"] == "WrapsWhenFull"
    for _ in range(service["MaxNumberOfRecords"] + 8):
        fail_to_log_in(client)
    found = entries(client, BMC_LOG)
    assert len(found) == service["MaxNumberOfRecords"]
    assert int(found[-1]["Id"]) == service["MaxNumberOfRecords"] + 9
    newest = client.get(f"{BMC_LOG}/Entries?$skip={len(found) - 1}")["Members"]
    assert [one["Id"] for one in newest] == [found[-1]["Id"]]


def test_logs_outlive_the_process(one: OneBmc, client: BmcClient) -> None:
    """A log is in flash; a crash of the process is no reason to lose it."""
    fail_to_log_in(client)
    before = entries(client, BMC_LOG)
    one.fleet.kill()
    one.fleet.start()
    client = one.client()
    assert entries(client, BMC_LOG) == before
    client.send("POST", f"{BMC_LOG}/Actions/LogService.ClearLog", json={})
    one.fleet.stop()
    one.fleet.start()
    assert len(entries(one.client(), BMC_LOG)) == 1


def test_diagnostic_data_is_collected_and_downloaded(client: BmcClient) -> None:
    """DSP0268, LogService.CollectDiagnosticData: an entry with AdditionalDataURI."""
    action = f"{BMC_LOG}/Actions/LogService.CollectDiagnosticData"
    answer = client.send("POST", action, json={"DiagnosticDataType": "Manager"})
    assert answer.status_code == 201
    entry = client.get(answer.headers["Location"])
    data = client.send("GET", entry["AdditionalDataURI"])
    assert len(data.content) == entry["AdditionalDataSizeBytes"]
    assert data.json()["persona"] == "hgx-h100"
    assert client.bmc.password not in data.text
    refused = client.send("POST", action, json={"DiagnosticDataType": "Weather"})
    assert refused.json()["error"]["code"].endswith("ActionParameterValueNotInList")


def test_full_log_takes_nothing_until_it_is_cleared(one: OneBmc, client: BmcClient) -> None:
    """chu11/freeipmi-mirror#35: events are dropped for lack of space."""
    fail_to_log_in(client)
    one.set_fault("log-full")
    fail_to_log_in(client)
    assert len(entries(client, BMC_LOG)) == 2
    one.clear_fault("log-full")
    fail_to_log_in(client)
    assert len(entries(client, BMC_LOG)) == 3


def test_clock_of_the_logs_begins_in_1970(one: OneBmc, client: BmcClient) -> None:
    """turing-machines/BMC-Firmware#51."""
    one.set_fault("log-clock-1970")
    fail_to_log_in(client)
    assert entries(client, BMC_LOG)[-1]["Created"].startswith("1970-01-01T")
    assert client.get(BMC_LOG)["DateTime"].startswith("1970-01-01T")


def test_entries_are_missing_or_late(one: OneBmc, client: BmcClient) -> None:
    """mrlhansen/idrac_exporter#112; 18 to 23 seconds for log entries in captured trees."""
    one.set_fault("log-entries-missing", times=1)
    assert client.send("GET", f"{BMC_LOG}/Entries").status_code == 404
    one.set_fault("log-entries-slow", seconds=0.5, times=1)
    began = time.monotonic()
    assert client.send("GET", f"{BMC_LOG}/Entries").status_code == 200
    assert time.monotonic() - began >= 0.5


def test_redfish_utilities_read_and_clear_the_logs(client: BmcClient) -> None:
    """DMTF/Redfish-Tacklebox, rf_logs."""
    bmc = client.bmc
    context = redfish.redfish_client(bmc.url, bmc.username, bmc.password)
    context.login(auth="basic")
    kind = redfish_utilities.log_container.MANAGER
    assert redfish_utilities.get_log_entries(context, kind, first=0)[0]["Id"] == "1"
    redfish_utilities.clear_log_entries(context, kind)
    (only,) = redfish_utilities.get_log_entries(context, kind)
    assert "cleared" in only["Message"]
    response = redfish_utilities.collect_diagnostic_data(context, kind)
    name, content = redfish_utilities.download_diagnostic_data(context, response)
    assert name == "attachment"
    assert b"hgx-h100" in content
