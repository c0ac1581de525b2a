"""TelemetryService: reports of now, of the same readings as the sensors, and reports that are sent."""

from typing import Any

import pytest

from tests.emulator.bmc_client import BmcClient
from tests.emulator.conftest import Museum
from tests.emulator.listener import EventListener, stream
from tests.emulator.one_bmc import OneBmc

SERVICE = "/redfish/v1/TelemetryService"
ENVIRONMENT = "HGX_PlatformEnvironmentMetrics_0"


def values(client: BmcClient, report: str) -> dict[str, dict[str, Any]]:
    document = client.get(f"{SERVICE}/MetricReports/{report}")
    return {value["MetricProperty"]: value for value in document["MetricValues"]}


def test_there_is_a_report_for_each_definition(client: BmcClient) -> None:
    """NVIDIA's HGX: the reports of a captured GB200 tray, by name."""
    names = {member["@odata.id"].rpartition("/")[2] for member in client.get(f"{SERVICE}/MetricReports")["Members"]}
    wanted = ("PlatformEnvironment", "Processor", "Memory", "Health")
    assert names >= {f"HGX_{name}Metrics_0" for name in wanted}
    for name in names:
        report = client.get(f"{SERVICE}/MetricReports/{name}")
        definition = client.get(report["MetricReportDefinition"]["@odata.id"])
        assert definition["MetricReport"] == {"@odata.id": f"{SERVICE}/MetricReports/{name}"}
        assert report["MetricValues"], name
    assert client.send("GET", f"{SERVICE}/MetricReports/none").status_code == 404


def test_report_reads_what_the_sensors_read(one: OneBmc, client: BmcClient) -> None:
    """A report and the resource that it is about are one truth: the fault shows in both."""
    one.set_fault("sensor-unavailable", sensor="Inlet")
    client.reset("On")
    found = values(client, ENVIRONMENT)
    inlet = next(path for path in found if "Inlet" in path)
    assert found[inlet]["MetricValue"] == "nan"
    assert client.get(inlet)["Reading"] is None
    one.clear_fault("sensor-unavailable")
    reading = client.get(inlet)["Reading"]
    assert float(values(client, ENVIRONMENT)[inlet]["MetricValue"]) == pytest.approx(reading, rel=0.2)


def test_wildcards_stand_for_every_link_of_every_gpu(museum: Museum) -> None:
    """DSP0268, MetricReportDefinition: Wildcards."""
    client = BmcClient(museum["gb200-compute-tray"])
    definition = client.get(f"{SERVICE}/MetricReportDefinitions/HGX_ProcessorPortMetrics_0")
    names = {one["Name"]: one["Values"] for one in definition["Wildcards"]}
    assert (len(names["ProcessorId"]), len(names["PortId"])) == (4, 18)
    found = values(client, "HGX_ProcessorPortMetrics_0")
    assert "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_3/Ports/NVLink_17#/LinkStatus" in found
    assert len(found) == len(definition["MetricProperties"]) * 4 * 18


def test_stale_values_are_marked(one: OneBmc, client: BmcClient) -> None:
    """NVIDIA/libredfish: MetricValueStale in the captured reports."""
    one.set_fault("metrics-stale", property="Inlet")
    stale = {path for path, value in values(client, ENVIRONMENT).items() if "Oem" in value}
    assert stale
    assert all("Inlet" in path for path in stale)


def test_reports_are_sent_to_whoever_waits_for_them(client: BmcClient) -> None:
    """DSP0266, eventing: EventFormatType MetricReport; ReportActions RedfishEvent."""
    definition = {"@odata.id": f"{SERVICE}/MetricReportDefinitions/HGX_HealthMetrics_0"}
    with EventListener() as listener:
        listener.subscribe(client, EventFormatType="MetricReport", MetricReportDefinitions=[definition])
        report = listener.next()
        assert (report["Id"], report["Context"]) == ("HGX_HealthMetrics_0", "tests")
        assert report["MetricValues"]
    with stream(client, "?$filter=EventFormatType eq 'MetricReport'") as events:
        assert next(events)["@odata.type"].startswith("#MetricReport.")


def test_definition_is_changed(client: BmcClient) -> None:
    """DSP0268, MetricReportDefinition: what is writable."""
    path = f"{SERVICE}/MetricReportDefinitions/{ENVIRONMENT}"
    flags = {"MetricReportDefinitionEnabled": False, "ReportUpdates": "NewReport"}
    body = {"Schedule": {"RecurrenceInterval": "PT5M"}, **flags}
    assert client.send("PATCH", path, json=body).status_code == 204
    shown = client.get(path)
    assert {name: shown[name] for name in body} == body
    for bad in ({"Schedule": {"RecurrenceInterval": "soon"}}, {"ReportUpdates": "Never"}, {"Id": "x"}, {"Colour": 1}):
        assert client.send("PATCH", path, json=bad).status_code == 400, bad


def test_test_report_is_sent(client: BmcClient) -> None:
    """DSP0268, TelemetryService.SubmitTestMetricReport."""
    value = {"MetricId": "Test", "MetricValue": "1", "Timestamp": "2026-01-01T00:00:00Z"}
    body = {"MetricReportName": "Test", "GeneratedMetricReportValues": [value]}
    definition = {"@odata.id": f"{SERVICE}/MetricReportDefinitions/Test"}
    with EventListener() as listener:
        listener.subscribe(client, EventFormatType="MetricReport", MetricReportDefinitions=[definition])
        action = f"{SERVICE}/Actions/TelemetryService.SubmitTestMetricReport"
        assert client.send("POST", action, json=body).status_code == 204
        assert listener.next()["MetricValues"] == [value]
        assert client.send("POST", action, json={"MetricReportName": "Test"}).status_code == 400


def test_metrics_are_described(client: BmcClient) -> None:
    """DSP0268, MetricDefinition: units and the properties that it is about."""
    for member in client.get(f"{SERVICE}/MetricDefinitions")["Members"]:
        definition = client.get(member["@odata.id"])
        path, _, pointer = definition["MetricProperties"][0].partition("#")
        assert pointer == "/Reading"
        assert client.get(path)["ReadingUnits"] == definition["Units"]
