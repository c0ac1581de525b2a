"""Webhooks: over HTTP, from the store, to a real receiver that fails in ways."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from api.app import create_app
from provisioner.models.lifecycle import State
from provisioner.models.role import Role
from provisioner.models.webhook import Retries
from provisioner.pulse import Pulse
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from provisioner.webhook_loop import Sender, send_due
from provisioner.webhook_sender import refusal, send
from tests.api.asgi import Answer, ask
from tests.api.service import RecordedRuns, service_on
from tests.api.site import N1, expected
from tests.api.small_bmcs import SmallBmcs
from tests.api.webhook_receiver import DROP, Receiver, is_signed, receiving
from tests.store.conftest import empty_url

__all__ = ["empty_url"]  # the fixture: both databases


class HandClock:
    """`Clock`: real time, and what a test adds to it."""

    pace = 1.0

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def wall(self, duration: timedelta) -> float:
        return duration.total_seconds()

    def work(self, duration: timedelta) -> float:
        return duration.total_seconds()

    def limit(self, duration: timedelta) -> float:
        return duration.total_seconds()


class Hooks:
    """An app, a store with a node, and the sender of one worker."""

    def __init__(self, url: str, folder: Path) -> None:
        self.store: Store = open_store(url, open_cipher(folder / "key"))
        service, _ = service_on(self.store, folder, runs=RecordedRuns(), bmcs=SmallBmcs(), pulse=Pulse())
        self.app = create_app(service)
        self.clock = HandClock()
        retries = Retries(timedelta(minutes=1), timedelta(minutes=4), 5)
        self.sender = Sender("hall-3", self.clock, self.store.events, self.store.webhooks, retries)
        self.token = ""

    async def ask(self, method: str, path: str, body: object = None) -> Answer:
        headers = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]
        return await ask(self.app, method, path, headers, b"" if body is None else json.dumps(body).encode())

    async def create(self, receiver: Receiver, *types: str) -> dict[str, Any]:
        made = await self.ask("POST", "/v1/webhooks", {"url": receiver.url, "types": list(types)})
        assert made.status == 201, made.body
        found: dict[str, Any] = made.json()
        return found

    async def happen(self, count: int = 1) -> None:
        """So many moves of the node."""
        for _ in range(count):
            node = await self.store.nodes.get(N1)
            to = State.BURNING_IN if node.state is State.BOOTING else State.BOOTING
            assert await self.store.nodes.advance(node, to, "the test says so", datetime.now(UTC))

    async def look(self) -> None:
        """What the loop does in each round."""
        for webhook in await self.store.webhooks.all():
            await send_due(self.sender, webhook)


@pytest.fixture
async def hooks(empty_url: str, tmp_path: Path) -> AsyncIterator[Hooks]:
    """No webhook yet."""
    one = Hooks(empty_url, tmp_path)
    await one.store.nodes.expect(expected(1), datetime.now(UTC))
    one.token = (await one.store.tokens.create("anna", Role.ADMIN)).reveal()
    yield one
    one.store.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that takes everything until it is told otherwise."""
    with receiving() as one:
        yield one


async def test_events_come_signed_in_order_once_and_from_now_on(hooks: Hooks, receiver: Receiver) -> None:
    await hooks.happen()
    made = await hooks.create(receiver)
    await hooks.happen(3)
    await hooks.look()
    await hooks.look()
    events = [json.loads(body) for _, body in receiver.got]
    assert [event["data"]["id"] for event in events] == [3, 4, 5]
    assert receiver.ids() == [f"{made['id']}-{number}" for number in (3, 4, 5)]
    first = events[0]
    assert (first["specversion"], first["id"], first["source"]) == ("1.0", "3", "/sites/hall-3")
    assert (first["type"], first["subject"]) == ("firstlight.node.transition", f"nodes/{N1}")
    headers, body = receiver.got[0]
    assert headers["content-type"].startswith("application/cloudevents+json")
    assert is_signed(headers, body, made["secret"])
    assert not is_signed(headers, body + " ", made["secret"])
    assert not is_signed(headers | {"webhook-timestamp": "1"}, body, made["secret"])


async def test_only_the_types_that_were_asked_for_are_sent(hooks: Hooks, receiver: Receiver) -> None:
    await hooks.create(receiver, "firstlight.node.retry")
    await hooks.happen(2)
    await hooks.look()
    assert receiver.got == []
    assert (await hooks.ask("GET", "/v1/webhooks")).json()["webhooks"][0]["last_event"] == 3


@pytest.mark.parametrize("trouble", [500, 404, 302, DROP])
async def test_what_was_not_taken_is_sent_again_later_and_nothing_overtakes_it(
    hooks: Hooks, receiver: Receiver, trouble: int
) -> None:
    made = await hooks.create(receiver)
    await hooks.happen(2)
    receiver.answers.append(trouble)
    await hooks.look()
    await hooks.look()
    assert receiver.ids() == [f"{made['id']}-2"]
    waiting = (await hooks.ask("GET", f"/v1/webhooks/{made['id']}")).json()
    assert (waiting["last_event"], waiting["tries"]) == (1, 1)
    assert waiting["last_error"]
    hooks.clock.ahead += timedelta(minutes=1, seconds=1)
    await hooks.look()
    assert receiver.ids() == [f"{made['id']}-{number}" for number in (2, 2, 3)]
    assert (await hooks.ask("GET", f"/v1/webhooks/{made['id']}")).json()["last_error"] == ""


async def test_the_next_try_survives_a_restart(
    hooks: Hooks, receiver: Receiver, empty_url: str, tmp_path: Path
) -> None:
    await hooks.create(receiver)
    await hooks.happen()
    receiver.answers.append(503)
    await hooks.look()
    other = Hooks(empty_url, tmp_path)
    await other.look()
    assert len(receiver.got) == 1
    other.clock.ahead = timedelta(minutes=1, seconds=1)
    await other.look()
    assert len(receiver.got) == 2
    await hooks.look()
    assert len(receiver.got) == 2
    other.store.close()


async def test_what_is_never_taken_is_a_dead_letter_and_can_be_sent_again(hooks: Hooks, receiver: Receiver) -> None:
    made = await hooks.create(receiver)
    letters = f"/v1/webhooks/{made['id']}/dead-letters"
    await hooks.happen(2)
    receiver.answers.extend([500] * 5)
    for _ in range(5):
        await hooks.look()
        hooks.clock.ahead += timedelta(minutes=4, seconds=1)
    assert receiver.ids() == [f"{made['id']}-{number}" for number in (2, 2, 2, 2, 2, 3)]
    (letter,) = (await hooks.ask("GET", letters)).json()["letters"]
    assert (letter["event"], letter["error"], letter["redeliver"]) == (2, "answered 500", False)
    assert (await hooks.ask("POST", f"{letters}/{letter['number']}:redeliver")).json()["redeliver"]
    receiver.answers.append(500)
    await hooks.look()
    (letter,) = (await hooks.ask("GET", letters)).json()["letters"]
    assert not letter["redeliver"]
    await hooks.ask("POST", f"{letters}/{letter['number']}:redeliver")
    await hooks.look()
    await hooks.look()
    assert receiver.ids()[-2:] == [f"{made['id']}-2"] * 2
    assert is_signed(*receiver.got[-1], made["secret"])
    assert (await hooks.ask("GET", letters)).json()["letters"] == []
    assert (await hooks.ask("POST", f"{letters}/{letter['number']}:redeliver")).status == 404


async def test_two_workers_send_each_event_once(
    hooks: Hooks, receiver: Receiver, empty_url: str, tmp_path: Path
) -> None:
    await hooks.create(receiver)
    other = Hooks(empty_url, tmp_path)
    await hooks.happen(3)
    (webhook,) = await hooks.store.webhooks.all()
    now = datetime.now(UTC)
    assert await other.store.webhooks.take(webhook.id, "other", now, now + timedelta(minutes=1))
    await hooks.look()
    assert receiver.got == []
    assert not await hooks.store.webhooks.settle(replace(webhook, cursor=99), hooks.sender.holder)
    await other.store.webhooks.leave(webhook.id, "other")
    await hooks.look()
    await other.look()
    assert len(receiver.got) == 3
    other.store.close()


async def test_whoever_is_removed_gets_nothing_more(hooks: Hooks, receiver: Receiver) -> None:
    made = await hooks.create(receiver)
    await hooks.happen()
    assert (await hooks.ask("DELETE", f"/v1/webhooks/{made['id']}")).status == 204
    await hooks.look()
    assert receiver.got == []
    assert (await hooks.ask("GET", f"/v1/webhooks/{made['id']}")).status == 404
    whats = [line.entry.what for line in await hooks.store.audit.page(0, 10)]
    assert whats == ["webhook.create", "webhook.remove"]


async def test_the_secret_is_shown_once_and_neither_logged_nor_readable(hooks: Hooks, receiver: Receiver) -> None:
    with structlog.testing.capture_logs() as logs:
        made = await hooks.create(receiver)
        await hooks.happen()
        receiver.answers.append(500)
        await hooks.look()
        listed = (await hooks.ask("GET", "/v1/webhooks")).body.decode()
    with hooks.store.database.reader.connect() as connection:
        kept = str(connection.exec_driver_sql("SELECT * FROM webhooks").all())
    assert not [text for text in (str(logs), listed, kept) if made["secret"] in text or made["secret"][6:] in text]


@pytest.mark.parametrize(
    "body",
    [
        {"url": "ftp://x/"},
        {"url": "http://"},
        {"url": "http://user:word@x/"},
        {"url": "http://x:99999/"},
        {"url": "http://x/", "types": ["firstlight.node.lost"]},
        {"url": "http://[::1/"},
        {"url": "http://x/ y"},
    ],
)
async def test_what_cannot_be_is_refused_where_it_stands(hooks: Hooks, body: dict[str, Any]) -> None:
    refused = await hooks.ask("POST", "/v1/webhooks", body)
    assert refused.status == 422
    assert refused.json()["errors"][0]["pointer"] == ("#/types" if "types" in body else "#/url")


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fe80::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://0.0.0.0/",
        "http://[fd00:ec2::254]/",
        "http://2852039166/",
    ],
)
async def test_nothing_is_sent_to_metadata_or_link_local_addresses(url: str) -> None:
    """2852039166 is 169.254.169.254 in another spelling (OWASP, server-side request forgery)."""
    assert "nothing is sent there" in await send(url, {}, "{}")


def test_addresses_of_a_site_are_not_refused() -> None:
    assert [refusal(one) for one in ("10.0.0.5", "127.0.0.1", "192.168.1.1", "2001:db8::1")] == [""] * 4
