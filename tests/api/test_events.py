"""The stream of events, over a real connection that breaks."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
import structlog

from api.routes import events as events_route
from provisioner.models.event import Event, EventKind
from provisioner.models.role import Role
from tests.api.site import N1, Site


@contextmanager
def stream(site: Site, query: str = "", **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """An open stream, as the events in it: {"id", "event", "data"}."""
    headers = {"Authorization": f"Bearer {site.tokens[Role.TECHNICIAN]}", **headers}
    with requests.get(f"{site.url}/v1/events{query}", headers=headers, stream=True, timeout=10) as response:
        assert response.status_code == 200, response.text
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield _events(_lines(response.iter_content(chunk_size=1)))


def _events(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    for line in lines:
        if not line and event:
            yield {**event, "data": json.loads(event["data"])}
            event = {}
        elif line and not line.startswith(b":"):
            name, _, value = line.decode().partition(": ")
            event[name] = value


def _lines(content: Iterator[bytes]) -> Iterator[bytes]:
    """The lines; those of requests take CR LF for two ends where it comes in two pieces."""
    line = b""
    for byte in content:
        if byte == b"\n":
            yield line.removesuffix(b"\r")
            line = b""
        else:
            line += byte


def take(events: Iterator[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return [next(events) for _ in range(count)]


def hold_and_release(site: Site, name: str, times: int) -> None:
    for number in range(times):
        assert site.post(f"/v1/nodes/{name}/hold", json={"reason": f"time {number}"}).status_code == 200
        assert site.post(f"/v1/nodes/{name}/release").status_code == 200


def test_events_come_as_they_happen(site: Site) -> None:
    with stream(site) as events:
        assert [one["event"] for one in take(events, 2)] == ["discovered", "discovered"]
        began = time.monotonic()
        hold_and_release(site, "r01-u02", 1)
        held, released = take(events, 2)
        assert time.monotonic() - began < 2
    assert held["data"]["node"] == "r01-u02"
    assert (held["data"]["from_state"], held["data"]["to_state"]) == ("discovered", "held")
    assert held["id"] == str(held["data"]["id"])
    assert released["event"] == "released"


def test_after_a_break_nothing_is_lost_and_nothing_comes_twice(site: Site) -> None:
    with stream(site) as events:
        hold_and_release(site, "r01-u01", 3)
        first = take(events, 5)  # of 8
    hold_and_release(site, "r01-u02", 2)
    with stream(site, "?after=0", **{"Last-Event-ID": first[-1]["id"]}) as events:  # the header is newer than the URL
        second = take(events, 3 + 4)
        hold_and_release(site, "r01-u01", 1)
        second += take(events, 2)
    seen = [int(one["id"]) for one in first + second]
    assert seen == [event.id for event in site.run(site.store.events.after(0))]


def test_many_readers_and_a_writer(site: Site) -> None:
    """Each of several streams tells every event once, while events are written."""
    seen: dict[int, list[int]] = {}

    def read(number: int) -> None:
        with stream(site) as events:
            seen[number] = [int(one["id"]) for one in take(events, 22)]

    readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for reader in readers:
        reader.start()
    hold_and_release(site, "r01-u01", 10)
    for reader in readers:
        reader.join(20)
    everything = [event.id for event in site.run(site.store.events.after(0))]
    assert list(seen.values()) == [everything] * 4


def test_the_stream_of_one_node(site: Site) -> None:
    with stream(site, "?after=2&node=r01-u02") as events:
        hold_and_release(site, "r01-u01", 1)
        hold_and_release(site, "r01-u02", 1)
        assert {one["data"]["node"] for one in take(events, 2)} == {"r01-u02"}


@pytest.mark.parametrize("last", ["x", "-1", "1.5", str(2**63)])
def test_an_id_that_is_none_is_refused(site: Site, last: str) -> None:
    assert site.get("/v1/events", headers={"Last-Event-ID": last}).status_code == 422


def test_a_reader_that_takes_nothing_is_let_go(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page on a phone that went to sleep keeps its connection, and would keep what is sent to it in memory."""
    monkeypatch.setattr(events_route, "_STALLED_SECONDS", 0.3)

    async def many(_self: object, last: int, _limit: int = 500) -> list[Event]:
        return [Event(last + 1, datetime.now(UTC), N1, EventKind.OBSERVED, "x" * 500_000)]

    monkeypatch.setattr(type(site.store.events), "after", many)
    with structlog.testing.capture_logs() as logs, stream(site):
        deadline = time.monotonic() + 10
        while not logs and time.monotonic() < deadline:
            time.sleep(0.05)
    assert [entry["event"] for entry in logs] == ["request_answered"]


def test_the_end_of_the_service_ends_the_streams(site: Site) -> None:
    """A server waits for open responses when it stops; one without end would keep it for ever."""
    with stream(site) as events:
        take(events, 2)
        began = time.monotonic()
        site.stop()
        assert list(events) == []
    assert time.monotonic() - began < 2


def test_a_revoked_token_ends_its_streams(site: Site) -> None:
    with stream(site) as events:
        take(events, 2)
        site.run(site.store.tokens.revoke(Role.TECHNICIAN.value))
        assert list(events) == []


def test_events_come_as_cloudevents_when_asked(site: Site) -> None:
    with stream(site, "?format=cloudevents&after=1") as events:
        (one,) = take(events, 1)
    event = one["data"]
    assert (event["specversion"], event["id"], event["type"]) == ("1.0", "2", "firstlight.node.discovered")
    assert (event["source"], event["subject"], event["data"]["id"]) == ("/sites/test", "nodes/r01-u02", 2)
