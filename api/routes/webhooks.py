"""Webhooks: events by POST, for who cannot hold a stream open."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query, Response
from pydantic import AfterValidator, Field

from api.auth import Admin, RequestId, Site
from api.cursors import read_number, write_cursor
from api.fields import NODE_NAME, Body
from api.once import Once
from api.problems import documented
from api.views.webhooks import DeadLetterPage, DeadLetterView, NewWebhookView, WebhookList, WebhookView
from provisioner.errors import Conflict
from provisioner.models.event import EventKind
from provisioner.models.webhook import TYPE_PREFIX
from provisioner.services import webhooks

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

_TYPES = tuple(f"{TYPE_PREFIX}{kind}" for kind in EventKind)
_NameInPath = Annotated[str, Path(max_length=100, pattern=NODE_NAME)]
_Number = Annotated[int, Path(ge=1, le=2**63 - 1)]


def _web_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise ValueError("write http://HOST/PATH or https://HOST/PATH")
    if parts.username is not None or parts.fragment:
        raise ValueError("a URL here has neither a user nor a fragment: what signs is the secret")
    return url


def _known(types: tuple[str, ...]) -> tuple[str, ...]:
    unknown = sorted(set(types) - set(_TYPES))
    if unknown:
        raise ValueError(f"there are no events of {', '.join(unknown)}; there are {', '.join(_TYPES)}")
    return types


class WebhookRequest(Body):
    """Where to, and what of. No types: all."""

    url: Annotated[str, Field(max_length=2000, pattern=r"^[\x21-\x7e]+$"), AfterValidator(_web_address)]
    types: Annotated[tuple[str, ...], Field(max_length=20), AfterValidator(_known)] = ()


class LetterQuery(Body):
    """Which page."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403))
async def list_webhooks(service: Site, _: Admin) -> WebhookList:
    """Every webhook, and where it stands."""
    return WebhookList(webhooks=[WebhookView.of(one) for one in await service.webhooks.all()])


@router.post("", status_code=HTTPStatus.CREATED, responses=documented(400, 401, 403, 409, 413, 422))
async def create(service: Site, holder: Admin, once: Once, request: RequestId, body: WebhookRequest) -> NewWebhookView:
    """Be told of events from now on, as CloudEvents signed by Standard Webhooks. Only this answer shows the secret."""
    if once.done:
        raise Conflict(f"webhook {once.done} was made, and its answer is lost: delete it, and make another")
    clock, types = service.world.clock, frozenset(body.types)
    made = await webhooks.create(service.webhooks, clock, body.url, types, who=holder.name, request=request)
    return NewWebhookView.shown_once(*made)


@router.get("/{name}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Admin, name: _NameInPath) -> WebhookView:
    """Where it stands."""
    return WebhookView.of(await service.webhooks.get(name))


@router.delete("/{name}", status_code=HTTPStatus.NO_CONTENT, responses=documented(401, 403, 404, 422))
async def remove(service: Site, holder: Admin, request: RequestId, name: _NameInPath) -> Response:
    """Send nothing more to it; its dead letters go with it."""
    await webhooks.remove(service.webhooks, service.world.clock, name, who=holder.name, request=request)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.get("/{name}/dead-letters", responses=documented(401, 403, 404, 422))
async def letters(service: Site, _: Admin, name: _NameInPath, query: Annotated[LetterQuery, Query()]) -> DeadLetterPage:
    """Events that it did not take in all their tries, oldest first."""
    await service.webhooks.get(name)
    found = await service.webhooks.letters(name, read_number(query.cursor), query.limit + 1)
    page = found[: query.limit]
    more = write_cursor(str(page[-1].number)) if len(found) > query.limit else None
    return DeadLetterPage(letters=[DeadLetterView.of(one) for one in page], next=more)


@router.post("/{name}/dead-letters/{number}:redeliver", responses=documented(400, 401, 403, 404, 409, 422))
async def redeliver(
    service: Site, holder: Admin, _: Once, request: RequestId, name: _NameInPath, number: _Number
) -> DeadLetterView:
    """Send it once more; it is gone when it was taken. To ask again does no harm."""
    clock = service.world.clock
    letter = await webhooks.redeliver(service.webhooks, clock, name, number, who=holder.name, request=request)
    return DeadLetterView.of(letter)
