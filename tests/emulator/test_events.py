"""EventService: subscriptions, and what happens."""

from typing import Any

import pytest
import requests
import sushy

from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.listener import SUBSCRIPTIONS, EventListener, stream, submit
from tests.emulator.one_bmc import OneBmc


def test_host_that_is_switched_on_tells_its_subscriber(client: BmcClient, listener: EventListener) -> None:
    """DSP0266, eventing: events are POSTs of Event documents with the context of the subscription."""
    path = listener.subscribe(client, HttpHeaders=[{"X-Site": "one"}], RegistryPrefixes=["ResourceEvent"])
    shown = client.get(path)
    assert shown["HttpHeaders"] == []
    assert (shown["Context"], shown["SubscriptionType"]) == ("tests", "RedfishEvent")
    client.reset("On")
    document = listener.next()
    assert document["Context"] == "tests"
    assert listener.headers[0]["X-Site"] == "one"
    record = document["Events"][0]
    assert record["MessageId"] == "ResourceEvent.1.3.ResourcePoweredOn"
    assert record["OriginOfCondition"] == {"@odata.id": "/redfish/v1/Systems/1"}


def test_tasks_logins_and_new_firmware_are_events(client: BmcClient, listener: EventListener) -> None:
    """DSP8011: TaskEvent and Update registries; OpenBMC's InvalidLoginAttempted."""
    listener.subscribe(client)
    requests.get(client.bmc.url + "/redfish/v1/Systems", auth=("ADMIN", "wrong"), verify=False, timeout=10)
    assert listener.until("InvalidLoginAttempted")["MessageSeverity"] == "Warning"
    body = {"ImageURI": "http://127.0.0.1:9/none.bin", "TransferProtocol": "HTTP"}
    action = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
    assert client.send("POST", action, json=body).status_code == 202
    started = listener.until("TaskStarted")
    assert started["OriginOfCondition"]["@odata.id"].startswith("/redfish/v1/TaskService/Tasks/")
    assert listener.until("TaskAborted")["MessageArgs"] == started["MessageArgs"]


def test_sensor_that_becomes_too_hot_is_an_event_and_a_record(
    one: OneBmc, client: BmcClient, listener: EventListener
) -> None:
    """DSP8011, SensorEvent: a reading beyond its threshold; again when it is back in its range."""
    listener.subscribe(client, RegistryPrefixes=["SensorEvent"])
    client.reset("On")
    wait_for(lambda: client.get("/redfish/v1/Systems/1")["PowerState"] == "On")
    one.set_fault("gpu-overheats", index=0)
    record = listener.until("Threshold")
    assert "AboveUpper" in record["MessageId"]
    assert client.get(record["OriginOfCondition"]["@odata.id"])["ReadingType"] == "Temperature"
    one.clear_fault("gpu-overheats")
    assert listener.until("SensorReadingNormalRange")["MessageArgs"][0] == record["MessageArgs"][0]
    entries = client.get("/redfish/v1/Systems/1/LogServices/Log1/Entries")["Members"]
    assert any(entry["SensorType"] == "Temperature" and entry["Severity"] == "Critical" for entry in entries)


@pytest.mark.parametrize(
    ("wanted", "gets"),
    [
        ({"MessageIds": ["ResourceEvent.1.0.ResourceChanged"]}, ["one"]),
        ({"RegistryPrefixes": ["TaskEvent"]}, ["two"]),
        (
            {"ExcludeMessageIds": ["TaskEvent.1.0.TaskStarted"], "RegistryPrefixes": ["TaskEvent", "ResourceEvent"]},
            ["one"],
        ),
        ({"ResourceTypes": ["Chassis"]}, ["one"]),
        ({"OriginResources": [{"@odata.id": "/redfish/v1/Chassis"}], "SubordinateResources": True}, ["one"]),
        ({"OriginResources": [{"@odata.id": "/redfish/v1/Chassis"}], "RegistryPrefixes": ["TaskEvent"]}, []),
        ({"EventTypes": ["StatusChange"], "MessageIds": ["TaskEvent.1.0.TaskStarted"]}, ["two"]),
        ({"Severities": ["Critical"], "RegistryPrefixes": ["TaskEvent", "ResourceEvent"]}, ["two"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_subscription_gets_what_it_asked_for(wanted: dict[str, Any], gets: list[str]) -> None:
    """DSP0268, EventDestination: values of one property are or-ed, properties are and-ed."""
    from emulator.machine.event_filter import wants
    from emulator.machine.events import Notice

    one = Notice(
        1, "ResourceEvent.1.3.ResourceChanged", (), "/redfish/v1/Chassis/1", 0.0, text="one", type_given="Alert"
    )
    two = Notice(2, "TaskEvent.1.0.TaskStarted", (), "/redfish/v1/TaskService/Tasks/1", 0.0, text="two")
    two = Notice(
        **{**{n: getattr(two, n) for n in two.__slots__}, "type_given": "StatusChange", "severity_given": "Critical"}
    )
    found = [notice.text for notice, kind in ((one, "Chassis"), (two, "Task")) if wants(wanted, notice, kind)]
    assert found == gets


def test_delivery_is_tried_again_until_it_is_taken(client: BmcClient) -> None:
    """DSP0268, EventService: DeliveryRetryAttempts and DeliveryRetryIntervalSeconds."""
    with EventListener(refusals=2) as listener:
        listener.subscribe(client, RegistryPrefixes=["ResourceEvent"])
        submit(client, "ResourceEvent.1.3.TestMessage")
        assert listener.until("TestMessage")
        assert listener.refused == 2


@pytest.mark.parametrize(("policy", "remains"), [("TerminateAfterRetries", False), ("SuspendRetries", True)])
def test_subscriber_that_is_gone_is_dropped_or_suspended(client: BmcClient, policy: str, *, remains: bool) -> None:
    """dell/iDRAC-Redfish-Scripting#370: SuspendRetries leaves the subscription Disabled after the last attempt."""
    body = {"Destination": "http://127.0.0.1:9/", "Protocol": "Redfish", "DeliveryRetryPolicy": policy}
    path = client.send("POST", SUBSCRIPTIONS, json=body).headers["Location"]
    submit(client, "ResourceEvent.1.3.TestMessage")
    if not remains:
        wait_for(lambda: client.send("GET", path).status_code == 404)
        return
    wait_for(lambda: client.get(path)["Status"]["State"] == "Disabled")
    action = f"{path}/Actions/EventDestination.ResumeSubscription"
    assert client.send("POST", action, json={}).status_code == 204
    assert client.get(path)["Status"]["State"] == "Enabled"


@pytest.mark.parametrize(
    ("body", "message", "argument"),
    [
        ({"Protocol": "Redfish"}, "PropertyMissing", "Destination"),
        ({"Destination": "http://127.0.0.1/"}, "PropertyMissing", "Protocol"),
        ({"Destination": "http://127.0.0.1/", "Protocol": "FTP"}, "PropertyValueNotInList", "FTP"),
        ({"Destination": "nowhere", "Protocol": "Redfish"}, "PropertyValueFormatError", "nowhere"),
        ({"Destination": "http://[", "Protocol": "Redfish"}, "PropertyValueFormatError", "http://["),
        ({"Destination": "http://a/", "Protocol": "Redfish", "Colour": 1}, "PropertyUnknown", "Colour"),
        (
            {"Destination": "http://a/", "Protocol": "Redfish", "MessageIds": "x"},
            "PropertyValueTypeError",
            "MessageIds",
        ),
        (
            {"Destination": "http://a/", "Protocol": "Redfish", "OriginResources": [{}]},
            "PropertyValueTypeError",
            "OriginResources",
        ),
        (
            {"Destination": "http://a/", "Protocol": "Redfish", "RegistryPrefixes": ["Nope"]},
            "PropertyValueNotInList",
            "Nope",
        ),
    ],
)
def test_bad_subscription_is_refused(client: BmcClient, body: dict[str, Any], message: str, argument: str) -> None:
    """DSP0266, error responses; DSP0268, Base registry."""
    answer = client.send("POST", SUBSCRIPTIONS, json=body)
    assert answer.status_code == 400
    info = answer.json()["error"]["@Message.ExtendedInfo"][0]
    assert info["MessageId"].endswith(f".{message}")
    assert argument in info["MessageArgs"]
    assert client.get(SUBSCRIPTIONS)["Members"] == []


def test_subscription_is_changed_and_removed(client: BmcClient, listener: EventListener) -> None:
    """DSP0268, EventDestination: Context may be written, Destination may not."""
    path = listener.subscribe(client)
    assert client.send("PATCH", path, json={"Context": "other"}).status_code == 204
    assert client.get(path)["Context"] == "other"
    refused = client.send("PATCH", path, json={"Destination": "http://127.0.0.1/"})
    assert refused.json()["error"]["code"].endswith("PropertyNotWritable")
    assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", path).status_code == 404


def test_subscriptions_have_a_limit(client: BmcClient, listener: EventListener) -> None:
    """DSP8011, Base: EventSubscriptionLimitExceeded."""
    for _ in range(20):
        listener.subscribe(client)
    body = {"Destination": listener.url, "Protocol": "Redfish"}
    refused = client.send("POST", SUBSCRIPTIONS, json=body)
    assert refused.status_code == 503
    assert refused.json()["error"]["code"].endswith("EventSubscriptionLimitExceeded")


def test_service_that_is_switched_off_sends_nothing(client: BmcClient, listener: EventListener) -> None:
    """DSP0268, EventService: ServiceEnabled."""
    listener.subscribe(client)
    service = "/redfish/v1/EventService"
    assert client.send("PATCH", service, json={"ServiceEnabled": False}).status_code == 204
    submit(client, "ResourceEvent.1.3.TestMessage", Message="first")
    assert client.send("PATCH", service, json={"ServiceEnabled": True}).status_code == 204
    submit(client, "ResourceEvent.1.3.TestMessage", Message="second")
    assert listener.next()["Events"][0]["Message"] == "second"


def test_subscriptions_outlive_the_process_and_streams_do_not(one: OneBmc, listener: EventListener) -> None:
    """DSP0266: subscriptions are persistent, those of streams end with their connection."""
    client = one.client()
    listener.subscribe(client)
    with stream(client):
        assert len(client.get(SUBSCRIPTIONS)["Members"]) == 2
        one.fleet.stop()
    one.fleet.start()
    client = one.client()
    assert len(client.get(SUBSCRIPTIONS)["Members"]) == 1
    submit(client, "ResourceEvent.1.3.TestMessage")
    assert listener.until("TestMessage")


def test_reset_of_the_bmc_is_told_when_it_is_back(client: BmcClient, listener: EventListener) -> None:
    """OpenBMC, BMCRebootReason."""
    path = listener.subscribe(client)
    client.send("POST", "/redfish/v1/Managers/1/Actions/Manager.Reset", json={})
    assert listener.until("BMCRebootReason")["OriginOfCondition"] == {"@odata.id": "/redfish/v1/Managers/1"}
    assert client.get(path)["Destination"] == listener.url


def test_sushy_subscribes_and_submits_a_test_event(client: BmcClient, listener: EventListener) -> None:
    """openstack/sushy, resources/eventservice."""
    bmc = client.bmc
    root = sushy.Sushy(f"{bmc.url}/redfish/v1", bmc.username, bmc.password, verify=False)
    service = root.get_event_service()
    subscription = service.subscriptions.create(
        {"Destination": listener.url, "Protocol": "Redfish", "Context": "sushy"}
    )
    assert subscription.context == "sushy"
    service.submit_test_event(
        "1", "2026-01-01T00:00:00Z", "Alert", "hello", [], "ResourceEvent.1.3.TestMessage", "", "OK"
    )
    assert listener.until("TestMessage")["Message"] == "hello"
    subscription.delete()
    assert client.get(SUBSCRIPTIONS)["Members"] == []
