"""Faults of events, logs, metric reports and virtual media."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault("event-lost", "an event happens and is never sent to anybody", "DMTF/Redfish-Event-Listener#30"),
    Fault("event-delivered-twice", "every event is sent twice, with the same Id", "DMTF/Redfish-Event-Listener#30"),
    Fault(
        "events-out-of-order",
        "an event is held back and sent after the one that follows it",
        "DMTF/Redfish-Event-Listener#18",
        {"times": 1},
    ),
    Fault("event-id-repeated", "the Id of an event is the second in which it happened", "openbmc/bmcweb#311"),
    Fault("event-origin-absent", "events have no OriginOfCondition", "openbmc/bmcweb#311"),
    Fault("event-malformed", "the JSON of an event ends in the middle", "DMTF/Redfish-Event-Listener#37", {"times": 1}),
    Fault(
        "event-context-absent",
        "subscriptions and events have no Context",
        "ibm-openbmc/bmcweb#1328",
    ),
    Fault("sse-destination-absent", "the subscription of a stream has no Destination", "DMTF/Redfish-Tacklebox#59"),
    Fault(
        "sse-closes-silently",
        "a stream ends without a word after `events` events",
        "dell/iDRAC-Telemetry-Reference-Tools#141",
        {"events": 1, "times": 1},
    ),
    Fault("subscriptions-lost-at-reset", "a reset of the BMC forgets all subscriptions", "openbmc/bmcweb#164"),
    Fault("log-full", "a log that has entries takes no more until it is cleared", "chu11/freeipmi-mirror#35"),
    Fault(
        "log-clock-1970", "the clock of the logs begins with the epoch at each start", "turing-machines/BMC-Firmware#51"
    ),
    Fault("log-entries-missing", "the entries of logs answer 404", "mrlhansen/idrac_exporter#112"),
    Fault(
        "log-entries-slow",
        "entries of logs take `seconds` seconds of the wall clock",
        "NVIDIA/libredfish, response times of the captured trees (18 to 23 s for log entries)",
        {"seconds": 18.0},
    ),
    Fault(
        "metrics-stale",
        "values of metric reports whose property contains `property` are marked as stale",
        "NVIDIA/libredfish, MetricValueStale in the captured reports of GB200",
        {"property": ""},
    ),
    Fault(
        "insert-refuses-optional",
        "InsertMedia refuses Inserted and WriteProtected",
        "openstack/sushy, release note fix-insert-media-payload",
    ),
    Fault(
        "insert-needs-protocol",
        "InsertMedia wants TransferProtocolType",
        "openstack/sushy, release note retry-if-transferprototype-missing",
    ),
    Fault(
        "eject-needs-body",
        "EjectMedia without a body is refused with 415",
        "openstack/sushy, release note fix-eject-media-empty-dict",
    ),
    Fault(
        "eject-fails-when-empty",
        "EjectMedia of an empty drive is refused with 400",
        "openstack/sushy, release note bug-2114737",
    ),
    Fault(
        "media-moved",
        "virtual media belong to the system where they usually belong to the manager, and the other way round",
        "quadsproject/badfish#578, dell/terraform-provider-redfish#331",
    ),
    Fault("media-unreachable", "the BMC cannot reach the image that is inserted", "dell/iDRAC-Redfish-Scripting#265"),
)
