"""Faults of ETags, queries, messages, links and other habits of the protocol."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "expand-broken",
        "$expand is claimed but wrong (`how`: partial = half of the members, links = not expanded)",
        "dsx-ai-factory/infra-controller#4100",
        {"how": "partial"},
        {"how": ("partial", "links")},
    ),
    Fault(
        "etag-required",
        "a PATCH without If-Match is refused (`status`: 428, 412, or 400 with HeaderMissing)",
        "ansible/ansible#60031",
        {"status": 428},
        {"status": (428, 412, 400)},
    ),
    Fault(
        "etag-form",
        "the ETag header has another form than If-Match must have (`how`: weak, unquoted, doubled, empty, gzip; "
        "refused: as it should be, and no If-Match is accepted; absent: there is none, and If-Match says nothing)",
        "ansible-collections/community.general#3268; absent: DMTF/Redfish-Tacklebox#23",
        {"how": "weak"},
        {"how": ("weak", "unquoted", "doubled", "empty", "gzip", "refused", "absent")},
    ),
    Fault(
        "extended-info-object",
        "@Message.ExtendedInfo of an error is an object, not a list",
        "openstack/sushy, release note fix-extended-info-error-handling",
    ),
    Fault(
        "message-id-without-registry",
        "MessageId of an error is `PropertyMissing`, without registry and version",
        "openstack/sushy, release note message-parsing-resilience",
    ),
    Fault(
        "message-args-absent",
        "messages of an error have no MessageArgs",
        "openstack/sushy, release note message-parsing-resilience",
    ),
    Fault(
        "dates-invalid",
        "every date reads `value`",
        "NVIDIA/nv-redfish, bmc_quirks.rs: fw_inventory_wrong_release_date",
        {"value": "0000-00-00T00:00:00+00:00"},
    ),
    Fault(
        "state-invalid",
        "State of every Status reads `value`, which is no value of the schema",
        "NVIDIA/nv-redfish, bmc_quirks.rs: wrong_resource_status_state",
        {"value": "Standby"},
    ),
    Fault(
        "root-links-absent",
        "the root has no links of these `names`; what they lead to is there",
        "dsx-ai-factory/nv-redfish#234",
        {"names": ("Systems", "Chassis", "Managers", "UpdateService")},
    ),
)
