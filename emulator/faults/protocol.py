"""Faults of logging in, ETags, queries and other habits of the protocol."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "wrong-password",
        "the factory password is `password`, not what the label says",
        "dsx-ai-factory/infra-controller#1294",
        {"password": "LeftByTheLastOwner1"},
    ),
    Fault("session-limit", "only `limit` sessions may be open", "bb-Ricardo/check_redfish#89", {"limit": 0}),
    Fault(
        "expand-broken",
        "$expand is claimed but wrong (`how`: partial = half of the members, links = not expanded)",
        "dsx-ai-factory/infra-controller#4100",
        {"how": "partial"},
    ),
    Fault(
        "etag-required",
        "a PATCH without If-Match is refused (`status`: 428, 412, or 400 with HeaderMissing)",
        "ansible/ansible#60031",
        {"status": 428},
    ),
    Fault(
        "etag-form",
        "the ETag header has another form than If-Match must have (`how`: weak, unquoted, doubled, empty, gzip; "
        "refused: as it should be, and no If-Match is accepted)",
        "ansible-collections/community.general#3268",
        {"how": "weak"},
    ),
)
