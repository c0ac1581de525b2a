"""What an UpdateService advertises, as its document and the ActionInfo of SimpleUpdate say it; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from profiles.firmware.component import Transport
from provisioner.models.update import UpdateOffer
from provisioner.redfish.resources.update_service import UpdateTransports
from provisioner.redfish.snapshot import Document, Snapshot, folded, link

BEST_FIRST = (Transport.SIMPLE_UPDATE, Transport.MULTIPART, Transport.HTTP_PUSH)
"""A pull costs this process nothing: the file leaves through the web server, and its log tells whether the BMC came for
it. A multipart push carries targets and OEM parameters in one request; HttpPushUri is deprecated (DSP0268)."""

IMMEDIATE, ON_RESET, ON_START = "Immediate", "OnReset", "OnStartUpdateRequest"
PREFERRED = (IMMEDIATE, ON_RESET, ON_START)
"""Immediate: the image is written now, while the BMC is watched and nobody resets anything; with two slots it runs only
after the activation of its component. OnReset leaves the writing to a self-test that nobody can watch, in an order
that the BMC chooses. The maintenance windows let the BMC reset the host by its own clock, and are never asked for."""


@dataclass(frozen=True, slots=True)
class UpdateService:
    """Paths and limits. A path is None where that way is not offered."""

    path: str
    offer: UpdateOffer
    simple_update: str | None
    multipart: str | None
    push: str | None
    start_update: str | None
    apply_times: Mapping[Transport, tuple[str, ...]]
    push_targets: tuple[str, ...] | None
    """HttpPushUriTargets as they are now; None: it has no such property, and a push is for whatever the file is for."""
    push_apply_time: str | None
    """What HttpPushUriOptions says now; None: it has no such option."""
    one_target: bool = False
    """The ActionInfo of SimpleUpdate takes one target."""

    def apply_time(self, transport: Transport) -> str | None:
        """The one to ask for; None: none of ours is listed, and the BMC's default has to do (DSP0266: at once)."""
        listed = self.apply_times.get(transport, ())
        usable = [one for one in PREFERRED if one != ON_START or self.start_update]
        return next((one for one in usable if one in listed), None)


def needs_action_info(service: Document) -> str | None:
    """The ActionInfo to read before `read`: AMI and Supermicro list transfer protocols only there."""
    fields = _fields(service)
    info = fields.simple_update_info
    return info if isinstance(info, str) and info and not fields.transfer_protocols else None


def read(service: Document, action_info: Document | None = None) -> UpdateService:
    """What is offered now. A push URI inside the inventory is no transport: iDRAC stores there, and starts nothing."""
    fields = _fields(service)
    inventory, push = link(service, "FirmwareInventory"), _path(fields.push_uri)
    if push and inventory and folded(push).startswith(folded(inventory)):
        push = None
    ways = dict(zip(BEST_FIRST, (_path(fields.simple_update), _path(fields.multipart_uri), push), strict=True))
    times = {
        Transport.SIMPLE_UPDATE: _texts(fields.simple_update_times) or _texts(fields.simple_update_allows),
        Transport.MULTIPART: _texts(fields.multipart_times),
        Transport.HTTP_PUSH: _texts(fields.push_times),
    }
    largest = fields.largest_bytes
    parameters = _parameters(action_info)
    offer = UpdateOffer(
        transports=tuple(transport for transport in BEST_FIRST if ways[transport]),
        protocols=_texts(fields.transfer_protocols)
        or _texts(parameters.get("TransferProtocol", {}).get("AllowableValues")),
        largest_bytes=largest if isinstance(largest, int) and largest > 0 else None,
        apply_times=tuple(dict.fromkeys(one for listed in times.values() for one in listed)),
        start_update=_path(fields.start_update) is not None,
        busy=fields.push_targets_busy is True or fields.push_options_busy is True,
    )
    has_targets = isinstance(fields.push_targets, list)
    return UpdateService(
        path=link(service) or "/redfish/v1/UpdateService",
        offer=offer,
        simple_update=ways[Transport.SIMPLE_UPDATE],
        multipart=ways[Transport.MULTIPART],
        push=push,
        start_update=_path(fields.start_update),
        apply_times=times,
        push_targets=_texts(fields.push_targets) if has_targets else None,
        push_apply_time=fields.push_apply_time if isinstance(fields.push_apply_time, str) else None,
        one_target=parameters.get("Targets", {}).get("ArraySizeMaximum") == 1,
    )


def _fields(service: Document) -> UpdateTransports:
    snapshot = Snapshot()
    snapshot.add("/", service)
    return UpdateTransports(snapshot, "/")


def _path(value: Any) -> str | None:
    """Some BMCs write a whole URL; the BMC itself is meant."""
    try:
        return (urlsplit(value).path or None) if isinstance(value, str) else None
    except ValueError:
        return None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _parameters(action_info: Document | None) -> dict[str, Any]:
    """By name (DSP0268 ActionInfo)."""
    listed = (action_info or {}).get("Parameters")
    found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return {str(one.get("Name")): one for one in found}
