"""Webhooks as the API shows them: never their secret, but for the one answer to who made one."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.secret import Secret
from provisioner.models.webhook import DeadLetter, Webhook


class WebhookView(BaseModel):
    """One webhook. `last_event`: the last that is done with; `tries`: of the next, which was not taken so far."""

    id: str
    url: str
    types: list[str]
    who: str
    created_at: datetime
    last_event: int
    tries: int
    next_try_at: datetime | None
    last_error: str

    @classmethod
    def of(cls, webhook: Webhook) -> Self:
        """The view of one."""
        return cls.model_validate(_fields(webhook))


class NewWebhookView(WebhookView):
    """With the secret that signs, which nobody can show again."""

    secret: str

    @classmethod
    def shown_once(cls, webhook: Webhook, secret: Secret) -> Self:
        """The one answer that has it."""
        return cls.model_validate({**_fields(webhook), "secret": secret.reveal()})


class WebhookList(BaseModel):
    """All of them, oldest first."""

    webhooks: list[WebhookView]


class DeadLetterView(BaseModel):
    """An event that was not taken. `redeliver`: it is sent once more, soon."""

    number: int
    event: int
    at: datetime
    error: str
    redeliver: bool
    body: str

    @classmethod
    def of(cls, letter: DeadLetter) -> Self:
        """The view of one."""
        return cls(
            number=letter.number,
            event=letter.event,
            at=letter.at,
            error=letter.error,
            redeliver=letter.redeliver,
            body=letter.body,
        )


class DeadLetterPage(BaseModel):
    """Some of them, oldest first, and where the others begin."""

    letters: list[DeadLetterView]
    next: str | None


def _fields(webhook: Webhook) -> dict[str, object]:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "types": sorted(webhook.types),
        "who": webhook.who,
        "created_at": webhook.created_at,
        "last_event": webhook.cursor,
        "tries": webhook.tries,
        "next_try_at": webhook.next_try_at,
        "last_error": webhook.last_error,
    }
