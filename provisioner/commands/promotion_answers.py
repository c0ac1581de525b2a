"""Releases, promotions and channels as the API answers."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel

from provisioner.commands.client import Client
from provisioner.errors import BadInput, NotFound

_DIGEST_LETTERS = len("sha256:") + 64


class ReleaseLine(BaseModel):
    """A release in a list."""

    digest: str
    name: str
    hardware_class: str
    made_at: datetime | None
    made_by: str | None


class ReleasePage(BaseModel):
    """Some releases, and where the others begin."""

    releases: list[ReleaseLine]
    next: str | None


class Component(BaseModel):
    """One component of its firmware."""

    component: str
    version: str


class Reversibility(BaseModel):
    """What way back there is."""

    old_image_on_new_firmware: bool | None
    firmware_downgrade: bool | None
    one_way: list[str]


class Reason(BaseModel):
    """Something that is known about how its parts go together."""

    field: str
    severity: str
    name: str
    text: str


class Release(ReleaseLine):
    """Everything about one."""

    image: str
    image_digest: str
    firmware: str
    components: list[Component]
    bios: str
    bios_attributes: dict[str, Any]
    burn_in: str
    constraints: dict[str, Any]
    reversibility: Reversibility
    reasons: list[Reason]


class Gate(BaseModel):
    """One gate as it was last seen."""

    name: str
    state: str
    seen: str
    missing: str
    remedy: str
    evidence: list[str]


class Approval(BaseModel):
    """A person said yes."""

    who: str
    at: datetime


class Waiver(BaseModel):
    """A gate that two persons do without."""

    gate: str
    reason: str
    who: str
    at: datetime
    expires_at: datetime
    confirmed_by: str | None


class Line(BaseModel):
    """One line of a history."""

    at: datetime
    what: str


class Promotion(BaseModel):
    """One promotion; what has a default only where it is shown alone."""

    id: str
    channel: str
    hardware_class: str
    release: str
    release_name: str
    state: str
    requester: str
    requested_at: datetime
    expires_at: datetime
    ended_at: datetime | None
    why: str
    reason: str = ""
    gates: list[Gate] = []
    approvals: list[Approval] = []
    waivers: list[Waiver] = []
    decision: str | None = None
    history: list[Line] = []


class PromotionPage(BaseModel):
    """Some promotions, and where the others begin."""

    promotions: list[Promotion]
    next: str | None


class Movement(BaseModel):
    """One move of a pointer."""

    revision: int
    release: str
    at: datetime
    who: str
    reason: str
    promotion: str | None


class Channel(BaseModel):
    """One pointer; `rollback_to` and `history` where it is shown alone."""

    channel: str
    hardware_class: str
    release: str
    revision: int
    since: datetime
    who: str
    rollback_to: list[str] = []
    history: list[Movement] = []


class ChannelList(BaseModel):
    """Every pointer."""

    channels: list[Channel]


def all_releases(client: Client, hardware_class: str | None = None) -> Iterator[ReleaseLine]:
    """Newest first."""
    cursor: str | None = None
    while True:
        asked = {"limit": "100", "hardware_class": hardware_class, "cursor": cursor}
        page = client.ask("GET", f"/v1/releases?{_query(asked)}", ReleasePage)
        yield from page.releases
        cursor = page.next
        if cursor is None:
            return


def all_promotions(client: Client, **asked: str | None) -> Iterator[Promotion]:
    """Newest first."""
    cursor: str | None = None
    while True:
        page = client.ask("GET", f"/v1/promotions?{_query({'limit': '100', **asked, 'cursor': cursor})}", PromotionPage)
        yield from page.promotions
        cursor = page.next
        if cursor is None:
            return


def digest_of(client: Client, said: str) -> str:
    """The digest that a person means: all of it, its beginning, or the name of the newest release that is called so.

    Raises `NotFound`, and `BadInput` where a beginning is that of several.
    """
    if len(said) == _DIGEST_LETTERS and said.startswith("sha256:"):
        return said
    releases = list(all_releases(client))
    by_name = [one.digest for one in releases if one.name == said]
    if by_name:
        return by_name[0]
    begins = said if said.startswith("sha256:") else f"sha256:{said}"
    found = [one.digest for one in releases if one.digest.startswith(begins)]
    if not found:
        raise NotFound(f"no release is called {said}: `firstlight release list` shows them, `release create` makes one")
    if len(found) > 1:
        raise BadInput(f"{said} is the beginning of {len(found)} digests: write more of it")
    return found[0]


def _query(asked: dict[str, str | None]) -> str:
    return urlencode({name: value for name, value in asked.items() if value is not None})
