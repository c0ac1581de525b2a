"""Faults of logging in: passwords, sessions, locks."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "wrong-password",
        "the factory password is `password`, not what the label says",
        "dsx-ai-factory/infra-controller#1294",
        {"password": "LeftByTheLastOwner1"},
    ),
    Fault(
        "session-limit",
        "only `limit` sessions may be open; one more is refused with `status`",
        "bb-Ricardo/check_redfish#89 (503), quadsproject/badfish#447 (400)",
        {"limit": 0, "status": 503},
        {"status": (503, 400)},
    ),
    Fault(
        "sessions-forgotten",
        "the next use of a token answers 401, and so do all others",
        "openbmc/bmcweb#158",
        {"times": 1},
    ),
    Fault(
        "sessions-expire-early",
        "a session that is not used for `seconds` seconds of the wall clock is closed, whatever SessionTimeout says",
        "Linuxfabrik/lib#246",
        {"seconds": 10.0},
    ),
    Fault(
        "sessions-refused",
        "no session can be made (`status`), Basic authentication works",
        "mrlhansen/idrac_exporter#132 (405), v1k0d3n/proxmox-redfish#42 (401)",
        {"status": 405},
        {"status": (405, 401, 404, 501)},
    ),
    Fault(
        "sessions-moved",
        "sessions are at /redfish/v1/Sessions, as Links of the root says; the usual path answers 404",
        "openstack/sushy, release note use-sessions-url-from-root",
    ),
    Fault(
        "login-refuses-basic-header",
        "a POST to the sessions that has an Authorization header is refused with 415",
        "ansible-collections/community.general#5903, dsx-ai-factory/nv-redfish#105",
    ),
    Fault("basic-refused", "Basic authentication answers 401, only tokens are taken", "yunionio/cloudpods#24911"),
    Fault(
        "account-locks-early",
        "an account is locked for `seconds` after `failures` wrong passwords, whatever AccountService says",
        "openbmc/openbmc#3650",
        {"failures": 3, "seconds": 300.0},
    ),
)
