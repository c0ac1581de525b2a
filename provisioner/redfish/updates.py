"""Starting a firmware update: by a transport that both sides take, sent once; its task found wherever it is named."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from profiles.firmware.component import Transport
from provisioner.errors import BmcError, BmcRefused, BmcUnreachable, OneTargetOnly, ResourceGone
from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import Task
from provisioner.models.update import UpdateOrder
from provisioner.redfish import update_requests as requests
from provisioner.redfish.access import Access
from provisioner.redfish.answer import Answer
from provisioner.redfish.messages import failure_in
from provisioner.redfish.refusals import busy, fits_no_transport, one_target_only
from provisioner.redfish.snapshot import folded, links
from provisioner.redfish.started import newcomer, started_task
from provisioner.redfish.update_service import UpdateService

NOT_OFFERED = 501
NAMES = {
    Transport.SIMPLE_UPDATE: "SimpleUpdate",
    Transport.MULTIPART: "MultipartHttpPushUri",
    Transport.HTTP_PUSH: "HttpPushUri",
}


class Updates:
    """One caller's updates on one BMC. `tasks` is the path of the task collection, `listed` reads all of them."""

    def __init__(self, access: Access, tasks: str | None, listed: Callable[[], Awaitable[tuple[Task, ...]]]) -> None:
        """Ask for nothing yet."""
        self._access = access
        self._tasks = tasks
        self._listed = listed

    async def start(self, service: UpdateService, order: UpdateOrder) -> TaskUri | None:
        """Start one update and return its task, or None when the BMC names none and none is new in its list.

        A transport that the BMC offers and then refuses gives way to the next one, never tried twice. Raises
        `BmcRefused` when nothing was begun: too large, refused by all, or an error in an answer that looks good;
        `OneTargetOnly`; `BmcUnreachable` while another update runs; `AnswerLost` when nobody knows whether it started.
        """
        ways = self._ways(service, order)
        refusals: list[BmcError] = []
        before = await self._known()
        for transport in ways:
            order.trying(transport)
            try:
                answer = await self._send(service, order, transport)
            except (BmcRefused, ResourceGone) as error:
                self._judge(error, order, transport)
                refusals.append(error)
                continue
            return await self._task(answer, before, service)
        raise self._all(ways, refusals)

    async def start_staged(self, service: UpdateService) -> TaskUri | None:
        """UpdateService.StartUpdate. Raises `BmcRefused` where it is not offered, or nothing waits for it."""
        if service.start_update is None:
            raise BmcRefused(self._access.bmc, "offers no UpdateService.StartUpdate", NOT_OFFERED)
        before = await self._known()
        try:
            answer = await self._access.act(requests.post(service.start_update, {}))
        except BmcRefused as error:
            if busy(error):
                raise BmcUnreachable(self._access.bmc, error.message) from error
            raise
        return await self._task(answer, before, service)

    def _ways(self, service: UpdateService, order: UpdateOrder) -> tuple[Transport, ...]:
        """Transports to try, in order. Raises `BmcRefused` before anything is sent."""
        offer, size = service.offer, order.package.size_bytes
        if offer.largest_bytes is not None and offer.largest_bytes < size:
            said = f"package of {size} bytes, but MaxImageSizeBytes is {offer.largest_bytes}"
            raise BmcRefused(self._access.bmc, said, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if service.one_target and len(order.targets or ()) > 1:
            raise OneTargetOnly(self._access.bmc, "takes one target with each update", HTTPStatus.BAD_REQUEST)
        found: list[Transport] = []
        reasons: list[str] = []
        for transport in order.transports or offer.transports:
            reason = fits_no_transport(service, order, transport)
            if reason:
                reasons.append(f"{NAMES[transport]} {reason}")
            elif transport not in found:
                found.append(transport)
        if not found:
            said = "; ".join(reasons) or "its UpdateService offers neither SimpleUpdate nor a push"
            raise BmcRefused(self._access.bmc, f"no way to send {order.package.path.name}: {said}", NOT_OFFERED)
        return tuple(found)

    async def _send(self, service: UpdateService, order: UpdateOrder, transport: Transport) -> Answer:
        if transport is Transport.SIMPLE_UPDATE:
            return await self._access.act(requests.pull(service, order))
        if transport is Transport.MULTIPART:
            return await requests.push_form(self._access, service, order)
        if service.offer.busy:
            raise BmcUnreachable(self._access.bmc, "HttpPushUri is reserved by another client (HttpPushUriTargetsBusy)")
        return await requests.push_file(self._access, service, order)

    def _judge(self, error: BmcError, order: UpdateOrder, transport: Transport) -> None:
        """Raise what no other transport would change."""
        said = f"{NAMES[transport]}: {error.message}"
        if not isinstance(error, BmcRefused):
            return
        if busy(error):
            raise BmcUnreachable(self._access.bmc, said) from error
        if len(order.targets or ()) > 1 and one_target_only(error):
            raise OneTargetOnly(self._access.bmc, said, error.status, error.ids) from error
        if error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise BmcRefused(self._access.bmc, said, error.status, error.ids) from error

    def _all(self, ways: tuple[Transport, ...], refusals: list[BmcError]) -> BmcRefused:
        """The status of the first refusal, with the words of all."""
        words = "; ".join(f"{NAMES[one]}: {error.message}" for one, error in zip(ways, refusals, strict=True))
        first = refusals[0]
        status = first.status if isinstance(first, BmcRefused) else int(HTTPStatus.NOT_FOUND)
        return BmcRefused(self._access.bmc, words, status, first.ids if isinstance(first, BmcRefused) else ())

    async def _known(self) -> frozenset[str] | None:
        """The tasks that are there before anything is sent; None when the BMC shows none of them."""
        try:
            return (
                frozenset(map(folded, links(await self._access.document(self._tasks), "Members")))
                if self._tasks
                else None
            )
        except (BmcRefused, ResourceGone):
            return None

    async def _task(self, answer: Answer, before: frozenset[str] | None, service: UpdateService) -> TaskUri | None:
        """Named in the answer, else the one that is new. Raises `BmcRefused` for an error in an answer that looks good.

        Nothing else is raised: the update has been sent, and a look that fails now must not hide that.
        """
        found = started_task(answer, self._tasks)
        if found is None and before is not None:
            try:
                found = newcomer(before, await self._listed(), requests=_ways_in(service))
            except BmcError:
                found = None
        wrong = failure_in(answer.content)
        if found is None and wrong:
            raise BmcRefused(
                self._access.bmc, f"answered {answer.status_code} and meant no: {wrong}", answer.status_code
            )
        return found


def _ways_in(service: UpdateService) -> frozenset[str]:
    """What a task of ours says that its request went to."""
    paths = (service.simple_update, service.multipart, service.push, service.start_update)
    return frozenset(folded(path) for path in paths if path)
