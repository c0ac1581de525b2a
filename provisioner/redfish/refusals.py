"""Why an update cannot go by one transport, and what the BMC means when it refuses one; pure.

Judged by message ids first: the same condition comes with 400, 409 or 503, by vendor (quadsproject/badfish#129).
"""

import re
from http import HTTPStatus
from urllib.parse import urlsplit

from profiles.firmware.component import Transport
from provisioner.errors import BmcRefused
from provisioner.models.update import UpdateOrder
from provisioner.redfish.update_service import UpdateService

BUSY_IDS = frozenset(
    {
        "UpdateInProgress",
        "ResourceInUse",
        "ServiceTemporarilyUnavailable",
        "FirmwareUpdateInProgress",
        "CreateLimitReachedForResource",
    }
)
BUSY_WORDS = re.compile(
    r"update (?:is|already|operation).{0,20}in progress|in progress.{0,20}update|not ready", re.IGNORECASE
)
ONE_IDS = frozenset({"ArraySizeTooLong", "MultipleTargetsNotSupported"})
ONE_WORDS = re.compile(
    r"\b(?:one|single|1) (?:target|element|component)\b|multiple targets|too many targets", re.IGNORECASE
)


def busy(error: BmcRefused) -> bool:
    """Another update is at work, or the BMC is not ready: it may say yes later."""
    return not BUSY_IDS.isdisjoint(error.ids) or bool(BUSY_WORDS.search(error.message))


def one_target_only(error: BmcRefused) -> bool:
    """It was one target too many (ansible-collections/community.general#5580)."""
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return False
    return not ONE_IDS.isdisjoint(error.ids) or bool(ONE_WORDS.search(error.message))


def fits_no_transport(service: UpdateService, order: UpdateOrder, transport: Transport) -> str:
    """Why the order cannot go this way, in words that follow the transport's name; empty when it can."""
    if transport not in service.offer.transports:
        return "is not offered"
    if order.oem and transport is not Transport.MULTIPART:
        return "cannot carry the OEM parameters that the catalog wants"
    if transport is Transport.SIMPLE_UPDATE:
        protocol = urlsplit(order.package.url).scheme.upper()
        allowed = service.offer.protocols
        return f"is offered over {', '.join(allowed)}, not {protocol}" if allowed and protocol not in allowed else ""
    if transport is Transport.HTTP_PUSH and order.targets and service.push_targets is None:
        return "takes no targets here; the catalog may say `targets: absent` if the file is for all parts of its kind"
    return ""
