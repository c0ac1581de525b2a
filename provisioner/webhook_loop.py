"""Sends events to webhooks: in their order, until each was taken or given up. Where it stands is in the store."""

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.records import Events
from provisioner.capabilities.webhooks import Webhooks
from provisioner.errors import NotFound
from provisioner.models.event import Event
from provisioner.models.webhook import (
    DeadLetter,
    Retries,
    Webhook,
    cloud_event,
    failed,
    passed,
    signed_headers,
    type_of,
)
from provisioner.webhook_sender import send

_log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=60)
"""Real time; one try takes ten seconds at most."""
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Sender:
    """What sending needs. `link_local`: such addresses may be sent to."""

    site: str
    clock: Clock
    events: Events
    webhooks: Webhooks
    retries: Retries = field(default_factory=Retries)
    link_local: bool = False
    holder: str = field(default_factory=lambda: secrets.token_hex(8))


async def keep_sending(sender: Sender, period: float) -> None:
    """Until cancelled. `period`: real seconds between looks; a slow webhook holds up no other."""
    while True:
        try:
            await asyncio.gather(*(_safely(sender, webhook) for webhook in await sender.webhooks.all()))
        except Exception:  # noqa: BLE001  the outermost handler of the loop
            _log.exception("webhooks_not_looked_at")
        await asyncio.sleep(period)


async def send_due(sender: Sender, seen: Webhook) -> None:
    """All that one webhook is owed now: letters that shall be sent again, then events behind its cursor."""
    now = sender.clock.now()
    if not await _owes(sender, seen):
        return
    webhook = await sender.webhooks.take(seen.id, sender.holder, now, now + _LEASE)
    if webhook is None:
        return
    try:
        await _send_letters(sender, webhook)
        if webhook.next_try_at is None or webhook.next_try_at <= now:
            await _send_events(sender, webhook)
    finally:
        await sender.webhooks.leave(webhook.id, sender.holder)


async def _safely(sender: Sender, webhook: Webhook) -> None:
    try:
        await send_due(sender, webhook)
    except NotFound:
        _log.info("webhook_gone", webhook=webhook.id)
    except Exception:  # noqa: BLE001  one webhook's trouble is not the others'
        _log.exception("webhook_not_served", webhook=webhook.id)


async def _owes(sender: Sender, webhook: Webhook) -> bool:
    waits = webhook.next_try_at is not None and webhook.next_try_at > sender.clock.now()
    if not waits and await sender.events.after(webhook.cursor, 1):
        return True
    return any(letter.redeliver for letter in await sender.webhooks.letters(webhook.id, 0, _AT_ONCE))


async def _send_events(sender: Sender, webhook: Webhook) -> None:
    for event in await sender.events.after(webhook.cursor, _AT_ONCE):
        now = sender.clock.now()
        after, buried = webhook, None
        if webhook.types and type_of(event) not in webhook.types:
            after = passed(webhook, event.id)
        elif error := await _post(sender, webhook, f"{webhook.id}-{event.id}", cloud_event(sender.site, event)):
            after = failed(webhook, error, now, sender.retries)
            if after.tries >= sender.retries.tries:
                buried = _letter(sender, webhook, event, error)
                after = passed(webhook, event.id, error)
        else:
            after = passed(webhook, event.id)
        if not await sender.webhooks.settle(after, sender.holder, buried=buried) or after.next_try_at is not None:
            return
        until = sender.clock.now() + _LEASE
        if await sender.webhooks.take(webhook.id, sender.holder, sender.clock.now(), until) is None:
            return
        webhook = after


async def _send_letters(sender: Sender, webhook: Webhook) -> None:
    for letter in await sender.webhooks.letters(webhook.id, 0, _AT_ONCE):
        if letter.redeliver:
            error = await _post(sender, webhook, f"{webhook.id}-{letter.event}", letter.body)
            await sender.webhooks.answered(letter, error)


def _letter(sender: Sender, webhook: Webhook, event: Event, error: str) -> DeadLetter:
    _log.warning("webhook_event_given_up", webhook=webhook.id, event_id=event.id, error=error)
    return DeadLetter(webhook.id, event.id, sender.clock.now(), error, cloud_event(sender.site, event))


async def _post(sender: Sender, webhook: Webhook, message: str, body: str) -> str:
    secret = await sender.webhooks.secret(webhook.id)
    headers = signed_headers(secret, message, sender.clock.now(), body)
    return await send(webhook.url, headers, body, link_local=sender.link_local)
