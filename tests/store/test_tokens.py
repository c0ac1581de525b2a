"""API tokens."""

import asyncio
from pathlib import Path

import pytest

from provisioner.errors import BadInput, Conflict, NotFound
from provisioner.models.role import Role
from provisioner.models.secret import Secret
from provisioner.store.opening import Store


async def test_a_token_is_known_until_it_is_revoked(store: Store) -> None:
    technician = await store.tokens.create("phone-7", Role.TECHNICIAN)
    owner = await store.tokens.create("ci", Role.IMAGE_OWNER)
    assert await store.tokens.check(technician) == ("phone-7", Role.TECHNICIAN)
    assert await store.tokens.check(owner) == ("ci", Role.IMAGE_OWNER)
    assert await store.tokens.list() == [("ci", Role.IMAGE_OWNER), ("phone-7", Role.TECHNICIAN)]
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
    assert await store.tokens.check(token) == ("admin", Role.ADMIN)
    path.unlink()
    assert not await store.tokens.ensure_admin(path)
    assert list(tmp_path.glob("*admin-token*")) == []


async def test_a_file_that_cannot_be_written_makes_no_token(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="admin token"):
        await store.tokens.ensure_admin(tmp_path / "missing" / "token")
    assert await store.tokens.list() == []
