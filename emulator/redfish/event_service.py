"""EventService: subscriptions, test events and the stream (DSP0266, eventing)."""

import time

from emulator.machine.events import Notice
from emulator.machine.machine import Machine
from emulator.redfish.errors import (
    RedfishError,
    missing,
    not_found,
    not_writable,
    unknown_property,
    wrong_type,
)
from emulator.redfish.event_destination import CHANGEABLE, KIND, PROPERTIES, check_destination, checked, shown
from emulator.redfish.event_stream import open_stream
from emulator.redfish.http import Request, Response, collection, no_content, ok
from emulator.redfish.router import Route
from emulator.tree.places import EVENT_SERVICE, SUBSCRIPTIONS

_TEST_FIELDS = (
    "EventType",
    "EventId",
    "EventTimestamp",
    "Severity",
    "MessageSeverity",
    "Message",
    "MessageId",
    "MessageArgs",
    "OriginOfCondition",
    "EventGroupId",
)


async def get_subscriptions(request: Request) -> Response:
    """Those that were made, and the streams that are open."""
    machine = request.machine
    members = [*machine.subscriptions.records, *(stream.id for stream in machine.streams.listing())]
    return collection("EventDestinationCollection", SUBSCRIPTIONS, "Event Subscriptions Collection", members)


async def subscribe(request: Request) -> Response:
    """POST of an EventDestination."""
    machine = request.machine
    body = request.json(PROPERTIES)
    record = {name: checked(name, value) for name, value in body.items() if not name.startswith("@")}
    for name in ("Destination", "Protocol"):
        if name not in record:
            raise missing(name)
    check_destination(record["Destination"])
    _check_room(machine)
    identity = machine.subscriptions.add(record)
    machine.wake()
    response = ok(KIND, f"{SUBSCRIPTIONS}/{identity}", shown(machine, identity, record))
    response.status, response.headers = 201, {"Location": f"{SUBSCRIPTIONS}/{identity}"}
    return response


async def get_subscription(request: Request) -> Response:
    """One subscription, or the stream of that id."""
    identity, machine = request.parameters[0], request.machine
    record = machine.subscriptions.records.get(identity)
    if record is not None:
        return ok(KIND, request.path, shown(machine, identity, record))
    stream = machine.streams.find(identity)
    if stream is None:
        raise not_found(request.path)
    of_stream = {**stream.wanted, "SubscriptionType": "SSE", "Destination": stream.reader}
    if machine.board.faults.peek("sse-destination-absent"):
        del of_stream["Destination"]
    return ok(KIND, request.path, shown(machine, identity, of_stream))


async def change_subscription(request: Request) -> Response:
    """PATCH of what may be changed; the rest is fixed once it is made."""
    identity, subscriptions = request.parameters[0], request.machine.subscriptions
    if identity not in subscriptions.records:
        raise not_found(request.path)
    changes = {}
    for name, value in request.json().items():
        if name.startswith("@"):
            continue
        if name not in CHANGEABLE:
            raise not_writable(name) if name in PROPERTIES else unknown_property(name)
        changes[name] = checked(name, value)
    subscriptions.change(identity, changes)
    return no_content()


async def unsubscribe(request: Request) -> Response:
    """DELETE; of a stream, that ends it where the persona does so."""
    identity, machine = request.parameters[0], request.machine
    if identity in machine.subscriptions.records:
        machine.subscriptions.remove(identity)
    elif machine.streams.find(identity) is None:
        raise not_found(request.path)
    elif not machine.board.persona.services.delete_closes_sse:
        raise RedfishError(405, "ResourceCannotBeDeleted", "The subscription of a stream ends with its connection.")
    else:
        machine.streams.close(identity)
    return no_content()


async def resume(request: Request) -> Response:
    """EventDestination.ResumeSubscription: after retries were suspended, send again."""
    return _suspend(request, suspended=False)


async def suspend(request: Request) -> Response:
    """EventDestination.SuspendSubscription: send nothing until it is resumed."""
    return _suspend(request, suspended=True)


async def submit_test_event(request: Request) -> Response:
    """EventService.SubmitTestEvent: sent to whoever would get such an event; without a MessageId, TestMessage."""
    body, events = request.json(_TEST_FIELDS), request.machine.events
    for name in ("Message", "MessageId", "EventType", "Severity", "MessageSeverity", "OriginOfCondition"):
        if name in body and not isinstance(body[name], str):
            raise wrong_type(body[name], name)
    arguments = body.get("MessageArgs", [])
    if not isinstance(arguments, list):
        raise wrong_type(arguments, "MessageArgs")
    if "MessageId" not in body:
        events.publish("ResourceEvent.TestMessage", origin=str(body.get("OriginOfCondition", "")))
        return no_content()
    events.tell(
        Notice(
            events.next(),
            body["MessageId"],
            tuple(str(argument) for argument in arguments),
            body.get("OriginOfCondition", ""),
            time.time(),
            text=body.get("Message") or "Test event",
            severity_given=body.get("MessageSeverity") or body.get("Severity") or "OK",
            type_given=body.get("EventType") or "Other",
        )
    )
    return no_content()


async def get_stream(request: Request) -> Response:
    """GET of ServerSentEventUri."""
    services = request.machine.board.persona.services
    if not (services.events and services.sse) or request.path != services.sse_uri:
        raise not_found(request.path)
    _check_room(request.machine)
    return open_stream(request)


def _suspend(request: Request, *, suspended: bool) -> Response:
    identity, subscriptions = request.parameters[0], request.machine.subscriptions
    if identity not in subscriptions.records:
        raise not_found(request.path)
    subscriptions.change(identity, {"Suspended": suspended})
    return no_content()


def _check_room(machine: Machine) -> None:
    used = len(machine.subscriptions.records) + len(machine.streams.listing())
    if used >= machine.board.persona.services.subscriptions:
        text = "The event subscription failed because the number of subscriptions is at the limit of the service."
        raise RedfishError(503, "EventSubscriptionLimitExceeded", text)


ROUTES = (
    Route(SUBSCRIPTIONS, get=get_subscriptions, post=subscribe),
    Route(f"{SUBSCRIPTIONS}/Members", post=subscribe),
    Route(f"{SUBSCRIPTIONS}/{{}}", get=get_subscription, patch=change_subscription, delete=unsubscribe),
    Route(f"{SUBSCRIPTIONS}/{{}}/Actions/EventDestination.ResumeSubscription", post=resume),
    Route(f"{SUBSCRIPTIONS}/{{}}/Actions/EventDestination.SuspendSubscription", post=suspend),
    Route(f"{EVENT_SERVICE}/Actions/EventService.SubmitTestEvent", post=submit_test_event),
    Route(f"{EVENT_SERVICE}/{{}}", get=get_stream),
)
