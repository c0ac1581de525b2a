"""Faults of the connection and of whole answers."""

from emulator.faults.fault import OF_ANSWERS, Fault

FAULTS: tuple[Fault, ...] = (
    Fault("refuse-connections", "connections are reset before TLS", "Mellanox/dpu-update#96"),
    Fault(
        "slow-answers",
        "every answer takes `seconds` seconds of the wall clock",
        "DMTF/Redfishtool#15",
        {**OF_ANSWERS, "seconds": 2.0},
    ),
    Fault(
        "half-body",
        "the connection ends in the middle of the body",
        "openstack/sushy, release note disable-conn-pooling",
        OF_ANSWERS,
    ),
    Fault(
        "service-unavailable",
        "503 with Retry-After: `retry_after` seconds",
        "sonic-net/sonic-platform-common#707",
        {**OF_ANSWERS, "retry_after": 1},
    ),
    Fault("html-answers", "a login page in HTML with status 200", "influxdata/telegraf#19295", OF_ANSWERS),
    Fault(
        "reused-connection-reset",
        "the second request on a connection is not read; the connection is reset",
        "DMTF/libredfish#55; openstack/sushy, release note disable-conn-pooling",
    ),
    Fault("silent", "the request is read and never acted upon or answered", "dsx-ai-factory/libredfish#36", OF_ANSWERS),
    Fault(
        "post-answer-lost",
        "a POST is acted upon, the answer is never sent",
        "stmcginnis/gofish#494",
        {"path": ""},
    ),
)
