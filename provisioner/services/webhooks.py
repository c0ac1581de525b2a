"""Webhooks that people ask for."""

import base64
import secrets

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.webhooks import Webhooks
from provisioner.models.audit import AuditEntry
from provisioner.models.secret import Secret
from provisioner.models.webhook import SECRET_PREFIX, DeadLetter, Webhook


async def create(
    webhooks: Webhooks, clock: Clock, url: str, types: frozenset[str], *, who: str, request: str = ""
) -> tuple[Webhook, Secret]:
    """A new one, which is told what happens from now on, and its secret, which nobody can show again."""
    secret = Secret(SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode())
    webhook = Webhook(f"wh-{secrets.token_hex(8)}", url, types, who, clock.now(), cursor=0)
    audit = AuditEntry(webhook.created_at, who, "webhook.create", webhook.id, request=request)
    await webhooks.add(webhook, secret, audit=audit)
    return webhook, secret


async def remove(webhooks: Webhooks, clock: Clock, name: str, *, who: str, request: str = "") -> None:
    """Nothing more is sent to it. Raises `NotFound`."""
    await webhooks.remove(name, audit=AuditEntry(clock.now(), who, "webhook.remove", name, request=request))


async def redeliver(
    webhooks: Webhooks, clock: Clock, name: str, number: int, *, who: str, request: str = ""
) -> DeadLetter:
    """Send a dead letter again. Raises `NotFound`."""
    audit = AuditEntry(clock.now(), who, "webhook.redeliver", name, evidence=(str(number),), request=request)
    return await webhooks.redeliver(name, number, audit=audit)
