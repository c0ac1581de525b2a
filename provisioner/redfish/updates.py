"""Starting a firmware update by the transport that the BMC offers: pull (SimpleUpdate) first, else multipart push."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import orjson

from profiles.firmware.component import Transport
from provisioner.errors import BmcRefused
from provisioner.models.identifiers import TaskUri
from provisioner.models.update import UpdateOffer, UpdateOrder
from provisioner.redfish.access import Access
from provisioner.redfish.answer import Answer
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.resources.update_service import UpdateTransports
from provisioner.redfish.snapshot import Document, Snapshot
from provisioner.redfish.tasks import started_task

TOO_LARGE = 413
NOT_OFFERED = 501


async def start(access: Access, service: Document, order: UpdateOrder) -> TaskUri | None:
    """Start one update and return its task, or None when the BMC names none.

    Raises `BmcRefused` before anything is sent when the package is too large or no transport is offered, and
    `AnswerLost` when nobody knows whether it started.
    """
    offers = _offers(service)
    package, targets = order.package, order.targets
    largest = offers.largest_bytes
    if isinstance(largest, int) and 0 < largest < package.size_bytes:
        said = f"package of {package.size_bytes} bytes, but MaxImageSizeBytes is {largest}"
        raise BmcRefused(access.bmc, said, TOO_LARGE)
    protocol = urlsplit(package.url).scheme.upper()
    if offers.simple_update and protocol in (offers.transfer_protocols or [protocol]):
        return started_task(await access.act(_pull(offers.simple_update, package.url, targets=targets)))
    if offers.multipart_uri:
        return started_task(await access.push(offers.multipart_uri, lambda: _form(package.path, targets)))
    raise BmcRefused(access.bmc, f"offers neither SimpleUpdate over {protocol} nor MultipartHttpPushUri", NOT_OFFERED)


def offer_of(service: Document) -> UpdateOffer:
    """What the UpdateService advertises."""
    offers = _offers(service)
    largest = offers.largest_bytes
    known = ((Transport.SIMPLE_UPDATE, offers.simple_update), (Transport.MULTIPART, offers.multipart_uri))
    return UpdateOffer(
        transports=tuple(transport for transport, offered in known if offered),
        protocols=tuple(offers.transfer_protocols or ()),
        largest_bytes=largest if isinstance(largest, int) and largest > 0 else None,
    )


def _offers(service: Document) -> UpdateTransports:
    snapshot = Snapshot()
    snapshot.add("/", service)
    return UpdateTransports(snapshot, "/")


def _pull(action: str, url: str, *, targets: tuple[str, ...] | None) -> Callable[[SingleShotConnector], Answer]:
    body: Document = {"ImageURI": url, "TransferProtocol": urlsplit(url).scheme.upper()}
    if targets is not None:
        body["Targets"] = list(targets)

    def work(connector: SingleShotConnector) -> Answer:
        answer: Answer = connector.post(action, data=body)
        return answer

    return work


def _form(path: Path, targets: tuple[str, ...] | None) -> aiohttp.FormData:
    """The two parts of DSP0266 "Multipart HTTP push updates"; the file is read as it is sent."""
    parameters: Document = {"Targets": list(targets)} if targets is not None else {}
    form = aiohttp.FormData()
    form.add_field("UpdateParameters", orjson.dumps(parameters).decode(), content_type="application/json")
    file = path.open("rb")  # closed by aiohttp with the request
    form.add_field("UpdateFile", file, filename=path.name, content_type="application/octet-stream")
    return form
