"""API tokens."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from provisioner.capabilities.tokens import TokenTerms
from provisioner.errors import BadInput, Conflict, NotFound
from provisioner.models.role import SCOPES_OF, Role, Scope
from provisioner.models.secret import Secret
from provisioner.store.opening import Store


async def test_a_token_is_known_until_it_is_revoked(store: Store) -> None:
    technician = await store.tokens.create("phone-7", Role.TECHNICIAN)
    owner = await store.tokens.create("ci", Role.IMAGE_OWNER)
    assert await store.tokens.check(technician) == ("phone-7", Role.TECHNICIAN, None)
    assert await store.tokens.check(owner) == ("ci", Role.IMAGE_OWNER, None)
    assert [one.holder[:2] for one in await store.tokens.list()] == [
        ("ci", Role.IMAGE_OWNER),
        ("phone-7", Role.TECHNICIAN),
    ]
    assert await store.tokens.check(Secret("")) is None
    assert len(technician.reveal()) >= 43
    with pytest.raises(Conflict, match="ci"):
        await store.tokens.create("ci", Role.ADMIN)
    await store.tokens.revoke("ci")
    assert await store.tokens.check(owner) is None
    with pytest.raises(NotFound):
        await store.tokens.revoke("ci")


async def test_the_first_start_writes_one_admin_token_that_only_its_owner_reads(store: Store, tmp_path: Path) -> None:
    files = [tmp_path / f"admin-token-{number}" for number in range(4)]
    wrote = await asyncio.gather(*(store.tokens.ensure_admin(path) for path in files))
    assert sum(wrote) == 1
    path = files[wrote.index(True)]
    assert path.stat().st_mode & 0o777 == 0o600
    token = Secret(path.read_text().strip())
    assert await store.tokens.check(token) == ("admin", Role.ADMIN, None)
    path.unlink()
    assert not await store.tokens.ensure_admin(path)
    assert list(tmp_path.glob("*admin-token*")) == []


async def test_a_file_that_cannot_be_written_makes_no_token(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="admin token"):
        await store.tokens.ensure_admin(tmp_path / "missing" / "token")
    assert await store.tokens.list() == []


async def test_a_token_is_narrowed_to_scopes_of_its_role_and_never_beyond_it(store: Store) -> None:
    terms = TokenTerms(narrowed_to=frozenset({Scope.EMERGENCY_STOP, Scope.BUILD}))
    whole = await store.tokens.check(await store.tokens.create("whole", Role.OPERATOR))
    narrow = await store.tokens.check(await store.tokens.create("narrow", Role.OPERATOR, terms))
    assert whole is not None
    assert narrow is not None
    assert whole.scopes == SCOPES_OF[Role.OPERATOR]
    assert narrow.scopes == {Scope.EMERGENCY_STOP}
    assert await store.tokens.holds(narrow)
    assert not await store.tokens.holds(narrow._replace(narrowed_to=None))


async def test_an_expired_token_is_nobodys(store: Store) -> None:
    now = datetime.now(UTC)
    over = await store.tokens.create("over", Role.ADMIN, TokenTerms(expires_at=now - timedelta(seconds=1)))
    still = await store.tokens.create("still", Role.ADMIN, TokenTerms(expires_at=now + timedelta(days=1)))
    assert await store.tokens.check(over) is None
    holder = await store.tokens.check(still)
    assert holder is not None
    assert await store.tokens.holds(holder)
    assert not await store.tokens.holds(holder._replace(name="over"))
    assert [one.holder.name for one in await store.tokens.list()] == ["over", "still"]


async def test_a_use_is_noted_and_the_prefix_tells_which_token_it_is(store: Store) -> None:
    token = await store.tokens.create("ci", Role.IMAGE_OWNER)
    fresh = await store.tokens.get("ci")
    assert (fresh.last_used_at, token.reveal()[: len(fresh.prefix)], len(fresh.prefix)) == (None, fresh.prefix, 10)
    await store.tokens.check(token)
    used = (await store.tokens.get("ci")).last_used_at
    assert used is not None
    await store.tokens.check(token)
    assert (await store.tokens.get("ci")).last_used_at == used
    with pytest.raises(NotFound, match="cj"):
        await store.tokens.get("cj")
