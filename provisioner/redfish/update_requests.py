"""The requests that start a firmware update, one for each transport (DSP0266 "Update service")."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from profiles.firmware.component import Transport
from provisioner.errors import AnswerLost, BmcUnreachable
from provisioner.models.update import UpdateOrder
from provisioner.redfish.access import Access
from provisioner.redfish.answer import Answer
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.paced_file import PacedFile
from provisioner.redfish.snapshot import Document
from provisioner.redfish.update_service import IMMEDIATE, UpdateService

APPLY_TIME = "@Redfish.OperationApplyTime"
OCTETS = "application/octet-stream"


def pull(service: UpdateService, order: UpdateOrder) -> Callable[[SingleShotConnector], Answer]:
    """SimpleUpdate: the BMC fetches the package."""
    url = order.package.url
    body: Document = {"ImageURI": url, "TransferProtocol": urlsplit(url).scheme.upper()}
    body |= _parameters(service, Transport.SIMPLE_UPDATE, order)
    return post(service.simple_update or "", body)


def post(path: str, body: Document) -> Callable[[SingleShotConnector], Answer]:
    """An action."""

    def work(connector: SingleShotConnector) -> Answer:
        answer: Answer = connector.post(path, data=body)
        return answer

    return work


async def push_form(access: Access, service: UpdateService, order: UpdateOrder) -> Answer:
    """MultipartHttpPushUri, streamed from the disk."""
    parameters = _parameters(service, Transport.MULTIPART, order)
    return await access.push(
        service.multipart or "", lambda: form(access.file(order.package.path, OCTETS), parameters, dict(order.oem))
    )


def form(file: PacedFile, parameters: Document, oem: Document) -> aiohttp.FormData:
    """The parts of DSP0266 "Multipart HTTP push updates", in its order and with its media types.

    Strict BMCs refuse others (stmcginnis/gofish#132). The file is read as it is sent.
    """
    parts = aiohttp.FormData()
    parts.add_field("UpdateParameters", orjson.dumps(parameters).decode(), content_type="application/json")
    parts.add_field("UpdateFile", file, filename=file.filename, content_type=OCTETS)
    if oem:
        parts.add_field("OemParameters", orjson.dumps(oem).decode(), content_type="application/json")
    return parts


async def push_file(access: Access, service: UpdateService, order: UpdateOrder) -> Answer:
    """HttpPushUri: first what the push is for, then the file as the body.

    HttpPushUriTargetsBusy is respected, and never set: it would outlive a crash of ours, and nobody would clear it.
    """
    path = order.package.path
    changes: dict[str, Any] = {}
    wanted = list(order.targets or ())
    if service.push_targets is not None and wanted != list(service.push_targets):
        changes["HttpPushUriTargets"] = wanted
    if service.push_apply_time not in {None, IMMEDIATE}:
        changes["HttpPushUriOptions"] = {"HttpPushUriApplyTime": {"ApplyTime": IMMEDIATE}}
    if changes:
        try:
            await access.act(_patch(service.path, changes))
        except AnswerLost as error:  # of no harm: no image was sent, and it is set anew the next time
            raise BmcUnreachable(access.bmc, error.message) from error
    return await access.push(service.push or "", lambda: access.file(path, OCTETS), {"Content-Type": OCTETS})


def _patch(path: str, changes: Document) -> Callable[[SingleShotConnector], None]:
    """Guarded by the ETag of what was read just before."""

    def work(connector: SingleShotConnector) -> None:
        etag = connector.get(path).headers.get("ETag")
        connector.patch(path, data=changes, etag=etag)

    return work


def _parameters(service: UpdateService, transport: Transport, order: UpdateOrder) -> Document:
    found: Document = {}
    if order.targets is not None:
        found["Targets"] = list(order.targets)
    apply_time = service.apply_time(transport)
    if apply_time:
        found[APPLY_TIME] = apply_time
    return found
