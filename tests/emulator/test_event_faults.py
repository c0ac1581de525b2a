"""Events that are lost, repeated or malformed, and what else goes wrong with them."""

import json
from typing import Any

import pytest

from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.listener import SUBSCRIPTIONS, EventListener, stream, submit
from tests.emulator.one_bmc import OneBmc


def test_reset_of_the_bmc_may_lose_the_subscriptions(one: OneBmc, client: BmcClient, listener: EventListener) -> None:
    """openbmc/bmcweb#164."""
    one.set_fault("subscriptions-lost-at-reset")
    listener.subscribe(client)
    client.send("POST", "/redfish/v1/Managers/1/Actions/Manager.Reset", json={})
    wait_for(lambda: one.truth()["bmc_resets"] == 1 and one.truth()["bmc_answers"])
    assert client.get(SUBSCRIPTIONS)["Members"] == []


def sent(client: BmcClient, listener: EventListener, count: int) -> list[str]:
    """The messages that arrive after two test events."""
    for text in ("first", "second"):
        submit(client, "ResourceEvent.1.3.TestMessage", Message=text)
    return [listener.next()["Events"][0]["Message"] for _ in range(count)]


@pytest.mark.parametrize(
    ("fault", "arguments", "arrives"),
    [
        ("event-lost", {"times": 1}, ["second"]),
        ("event-delivered-twice", {"times": 1}, ["first", "first", "second"]),
        ("events-out-of-order", {}, ["second", "first"]),
    ],
)
def test_events_are_lost_repeated_and_reordered(
    one: OneBmc,
    client: BmcClient,
    listener: EventListener,
    fault: str,
    arguments: dict[str, Any],
    arrives: list[str],
) -> None:
    """DMTF/Redfish-Event-Listener#18 and #30."""
    listener.subscribe(client, RegistryPrefixes=["ResourceEvent"], MessageIds=["ResourceEvent.1.3.TestMessage"])
    one.set_fault(fault, **arguments)
    assert sent(client, listener, len(arrives)) == arrives


def test_events_are_malformed(one: OneBmc, client: BmcClient, listener: EventListener) -> None:
    """DMTF/Redfish-Event-Listener#37, openbmc/bmcweb#311, ibm-openbmc/bmcweb#1328."""
    path = listener.subscribe(client, MessageIds=["ResourceEvent.1.3.TestMessage"])
    one.set_fault("event-malformed", times=1)
    submit(client, "ResourceEvent.1.3.TestMessage")
    with pytest.raises(json.JSONDecodeError):
        listener.next()
    for fault in ("event-id-repeated", "event-origin-absent", "event-context-absent"):
        one.set_fault(fault)
    submit(client, "ResourceEvent.1.3.TestMessage", OriginOfCondition="/redfish/v1/Chassis/1")
    document = listener.next()
    assert "Context" not in document
    assert "OriginOfCondition" not in document["Events"][0]
    assert int(document["Id"]) > 1_700_000_000
    assert "Context" not in client.get(path)


def test_stream_may_end_without_a_word(one: OneBmc, client: BmcClient) -> None:
    """dell/iDRAC-Telemetry-Reference-Tools#141; DMTF/Redfish-Tacklebox#59 for the missing Destination."""
    one.set_fault("sse-closes-silently", events=1, times=1)
    one.set_fault("sse-destination-absent")
    with stream(client, "?$filter=MessageId eq 'ResourceEvent.1.3.TestMessage'") as events:
        (member,) = client.get(SUBSCRIPTIONS)["Members"]
        assert "Destination" not in client.get(member["@odata.id"])
        for _ in range(2):
            submit(client, "ResourceEvent.1.3.TestMessage")
        assert len(list(events)) == 1


def test_messages_and_dates_that_are_not_as_the_schema_has_them(one: OneBmc, client: BmcClient) -> None:
    """openstack/sushy: fix-extended-info-error-handling, message-parsing-resilience; NVIDIA/nv-redfish."""
    for fault in ("extended-info-object", "message-id-without-registry", "message-args-absent", "dates-invalid"):
        one.set_fault(fault)
    info = client.send("GET", "/redfish/v1/Systems/none").json()["error"]["@Message.ExtendedInfo"]
    assert info["MessageId"] == "ResourceMissingAtURI"
    assert "MessageArgs" not in info
    assert client.get("/redfish/v1/TaskService")["DateTime"] == "0000-00-00T00:00:00+00:00"
