"""The history of all nodes as a stream that can be taken up again where it broke."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from api.auth import Reader, Site
from api.fields import NODE_NAME
from api.problems import documented
from api.views.nodes import EventView
from provisioner.capabilities.service import Service
from provisioner.capabilities.tokens import TokenHolder
from provisioner.models.event import Event
from provisioner.models.webhook import cloud_event

router = APIRouter(prefix="/v1/events", tags=["events"])

_LOOK_SECONDS = 5.0
"""Other processes write events too, and not every one of their changes is told here."""
_PING_SECONDS = 15
_STALLED_SECONDS = 30.0

_Id = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="the last event that the asker has")]
_IdHeader = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=2**63 - 1)]
_Node = Annotated[str | None, Query(max_length=253, pattern=NODE_NAME)]


class Form(StrEnum):
    """How an event is written."""

    PLAIN = "plain"
    CLOUDEVENTS = "cloudevents"


_Form = Annotated[Form, Query(alias="format", description="cloudevents: CloudEvents 1.0 in JSON, as webhooks get them")]


class EventStream(EventSourceResponse):
    """A reader that takes nothing for `send_timeout` seconds loses its connection, and can take it up again."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """No error of ours."""
        with suppress(SendTimeoutError):
            await super().__call__(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Events with a greater id than `after`, of one node or of all, for as long as the holder has a token."""

    holder: TokenHolder
    after: int
    node: str | None
    form: Form


@router.get(
    "",
    response_class=EventStream,
    responses={
        200: {"description": "Server-sent events without end", "content": {"text/event-stream": {}}},
        **documented(401, 403, 422),
    },
)
async def events(
    request: Request,
    service: Site,
    holder: Reader,
    after: _Id = None,
    last_event_id: _IdHeader = None,
    node: _Node = None,
    form: _Form = Form.PLAIN,
) -> EventStream:
    """Every event after `Last-Event-ID`, else `after`, else from the oldest that is kept; then as they happen."""
    wanted = Wanted(holder, after=last_event_id if last_event_id is not None else after or 0, node=node, form=form)
    stopping: asyncio.Event = request.app.state.stopping
    return EventStream(_stream(service, wanted, stopping), ping=_PING_SECONDS, send_timeout=_STALLED_SECONDS)


async def _stream(service: Service, wanted: Wanted, stopping: asyncio.Event) -> AsyncIterator[ServerSentEvent]:
    last = wanted.after
    while not stopping.is_set():
        changed = asyncio.ensure_future(service.changes.wait(_LOOK_SECONDS))  # begins before we look: nothing is missed
        try:
            found = await service.world.events.after(last)
            for event in found:
                last = event.id
                if wanted.node in {None, event.node}:
                    text = _text(service.site, event, wanted.form)
                    yield ServerSentEvent(text, event=event.kind, id=str(event.id))
            if not found:
                await _either(changed, stopping)
                if not await service.tokens.holds(wanted.holder):
                    return
        finally:
            changed.cancel()


def _text(site: str, event: Event, form: Form) -> str:
    return cloud_event(site, event) if form is Form.CLOUDEVENTS else EventView.of(event).model_dump_json()


async def _either(changed: asyncio.Future[bool], stopping: asyncio.Event) -> None:
    """Until something has changed, the time is over, or the server stops."""
    stop = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait((changed, stop), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
