"""Streams of events (Server-Sent Events)."""

from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.listener import STREAM, SUBSCRIPTIONS, stream, submit


def test_stream_carries_events_and_is_a_subscription_while_it_is_open(client: BmcClient) -> None:
    """DSP0266, Server-Sent Events: `id` and `data` lines; an EventDestination of type SSE stands for the connection."""
    with stream(client) as events:
        (member,) = client.get(SUBSCRIPTIONS)["Members"]
        assert client.get(member["@odata.id"])["SubscriptionType"] == "SSE"
        client.reset("On")
        first = next(event for event in events if event["Events"][0]["MessageId"].endswith("ResourcePoweredOn"))
        assert first["frame"] == first["Events"][0]["EventId"] == first["Id"]
    wait_for(lambda: not client.get(SUBSCRIPTIONS)["Members"])


def test_stream_is_filtered(client: BmcClient) -> None:
    """DSP0266: $filter of a stream names RegistryPrefix, MessageId, ResourceType or OriginResource."""
    registries = "(RegistryPrefix eq 'TaskEvent' or RegistryPrefix eq 'ResourceEvent')"
    with stream(client, f"?$filter={registries} and MessageId eq 'TaskEvent.1.0.TaskStarted'") as events:
        submit(client, "ResourceEvent.1.3.ResourceChanged")
        submit(client, "TaskEvent.1.0.TaskStarted")
        assert next(events)["Events"][0]["MessageId"] == "TaskEvent.1.0.TaskStarted"
    for bad in ("Colour eq 'red'", "RegistryPrefix ne 'x'", "RegistryPrefix"):
        assert client.send("GET", f"{STREAM}?$filter={bad}").status_code == 400


def test_interrupted_stream_goes_on_where_it_ended(client: BmcClient) -> None:
    """WHATWG, server-sent events: Last-Event-ID; what is still in the buffer is sent again."""
    with stream(client) as events:
        submit(client, "ResourceEvent.1.3.ResourceChanged")
        seen = next(event for event in events if event["Events"][0]["MessageId"].endswith("ResourceChanged"))["frame"]
    submit(client, "ResourceEvent.1.3.ResourceRemoved")
    with stream(client, **{"Last-Event-ID": seen}) as events:
        found = next(events)
        assert found["Events"][0]["MessageId"].endswith("ResourceRemoved")
        assert int(found["frame"]) > int(seen)


def test_stream_ends_when_its_subscription_is_deleted_and_when_the_bmc_restarts(client: BmcClient) -> None:
    """DSP0266: DELETE of the EventDestination closes the connection."""
    with stream(client) as events:
        (member,) = client.get(SUBSCRIPTIONS)["Members"]
        assert client.send("DELETE", member["@odata.id"]).status_code == 204
        assert list(events) == []
    with stream(client) as events:
        assert client.send("POST", "/redfish/v1/Managers/1/Actions/Manager.Reset", json={}).status_code == 204
        assert list(events) == []
