"""Who asks too often is told when to come back; nobody else notices."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.app import create_app
from api.rate_limit import AGENTS, BOOTS, STRANGERS, Buckets, Budgets, Rate
from provisioner.capabilities.cipher import Cipher
from provisioner.models.role import Role
from provisioner.pulse import Pulse
from provisioner.store.opening import Store, open_store
from tests.api.asgi import Answer, ask
from tests.api.service import RecordedRuns, service_on
from tests.api.small_bmcs import SmallBmcs


@given(st.lists(st.floats(0, 3), max_size=200), st.integers(1, 20), st.integers(1, 20))
def test_never_more_than_the_rate_allows_and_whoever_waits_as_told_is_served(
    pauses: list[float], per_second: int, burst: int
) -> None:
    buckets, now, served = Buckets(Rate(per_second, burst)), 0.0, 0
    for pause in pauses:
        now += pause
        wait = buckets.take("k", now)
        served += wait == 0.0
        assert served <= burst + per_second * now + 1e-6
        if wait:
            now += wait + 1e-6
            assert buckets.take("k", now) == 0.0
            served += 1


def test_one_spends_nothing_of_anothers() -> None:
    buckets = Buckets(Rate(1, 2))
    assert [buckets.take("a", 0.0) for _ in range(3)] == [0.0, 0.0, 1.0]
    assert buckets.take("b", 0.0) == 0.0


def test_the_defaults_carry_a_hall_that_boots() -> None:
    assert BOOTS.burst >= 3000 * 6
    assert STRANGERS.per_second < BOOTS.per_second
    sessions = Buckets(AGENTS)
    assert not any(sessions.take(f"node-{number % 10_000}", number / 10_000) for number in range(100_000))


class Asker:
    """An app whose principals may ask three times."""

    def __init__(self, store: Store, folder: Path) -> None:
        service, _ = service_on(store, folder, runs=RecordedRuns(), bmcs=SmallBmcs(), pulse=Pulse())
        self.app = create_app(replace(service, requests_per_second=1))
        slow = Rate(0.01, 3)
        self.app.state.budgets = Budgets(Buckets(slow), Buckets(slow), Buckets(slow), Buckets(slow))

    async def get(self, path: str, token: str = "") -> Answer:
        return await ask(self.app, "GET", path, [("Authorization", f"Bearer {token}")] if token else [])


@pytest.mark.parametrize("path", ["/v1/nodes", "/v1/rollouts", "/metrics"])
async def test_each_holder_has_a_budget(tmp_path: Path, key_cipher: Cipher, path: str) -> None:
    store = open_store(f"sqlite:///{tmp_path}/site.db", key_cipher)
    asker = Asker(store, tmp_path)
    anna, ben = [(await store.tokens.create(name, Role.OPERATOR)).reveal() for name in ("anna", "ben")]
    assert [(await asker.get(path, anna)).status for _ in range(4)] == [200, 200, 200, 429]
    refused = await asker.get(path, anna)
    assert (refused.headers["retry-after"], refused.headers["content-type"]) == ("100", "application/problem+json")
    assert refused.json()["type"] == "urn:firstlight:problem:too-many-requests"
    assert (await asker.get(path, ben)).status == 200
    store.close()


async def test_boots_agents_and_strangers_have_budgets_of_their_own(tmp_path: Path, key_cipher: Cipher) -> None:
    store = open_store(f"sqlite:///{tmp_path}/site.db", key_cipher)
    asker = Asker(store, tmp_path)
    for path, answer in (("/boot/no-such-key", 200), ("/v1/agent/plan", 401), ("/v1/nodes", 401)):
        assert [(await asker.get(path, "x")).status for _ in range(4)] == [answer, answer, answer, 429], path
    token = (await store.tokens.create("anna", Role.OPERATOR)).reveal()
    assert (await asker.get("/v1/nodes", token)).status == 200
    assert (await asker.get("/healthz")).status == 200
    store.close()
