"""Whoever copies the database's files learns no password, token or key."""

import base64
import subprocess
from dataclasses import replace
from pathlib import Path

from provisioner.models.role import Role
from provisioner.models.secret import Credentials, Secret
from provisioner.store.hashes import sha256
from provisioner.store.opening import Store
from tests.postgres import postgres_binaries
from tests.store.nodes import N1, N2, add_nodes
from tests.store.test_boots import TICKET


async def keep_secrets(store: Store, tmp_path: Path) -> list[Secret]:
    """Put every sort of secret into the store; what they are."""
    await add_nodes(store)
    label = Credentials("ADMIN", Secret("factory-password-on-the-label"))
    for node in (N1, N2):
        await store.vault.put_factory(node, label)
    ours, _ = await store.vault.propose(N1)
    await store.vault.sending(N1)
    await store.vault.confirm(N1)
    next_one, _ = await store.vault.propose(N1)
    ticket = replace(TICKET, key=Secret("boot-key-in-the-uri"), token=Secret("one-time-token-of-the-agent"))
    await store.boots.open(ticket)
    operator = await store.tokens.create("operator", Role.OPERATOR)
    await store.tokens.ensure_admin(tmp_path / "admin-token")
    admin = Secret((tmp_path / "admin-token").read_text().strip())
    return [label.password, ours.password, next_one.password, ticket.key, ticket.token, operator, admin]


def raw_content(url: str, tmp_path: Path) -> bytes:
    """Return every byte that is kept: the files of SQLite, or a dump of PostgreSQL."""
    if url.startswith("sqlite"):
        return b"".join(path.read_bytes() for path in tmp_path.glob("site.db*"))
    binaries = postgres_binaries()
    assert binaries is not None
    dump = subprocess.run([binaries / "pg_dump", "--inserts", url], capture_output=True)
    assert dump.returncode == 0, dump.stderr
    return dump.stdout


def spellings(secret: Secret) -> list[bytes]:
    """Return the secret as itself and as databases write bytes."""
    plain = secret.reveal().encode()
    return [plain, plain.hex().encode(), base64.b64encode(plain)[:-4]]


async def test_no_secret_is_in_the_database_as_itself(url: str, store: Store, tmp_path: Path) -> None:
    secrets = await keep_secrets(store, tmp_path)
    content = raw_content(url, tmp_path)
    assert b"r01-u01" in content
    readable = [secret.reveal() for secret in secrets if any(one in content for one in spellings(secret))]
    assert readable == []
    kept_hash = sha256(secrets[-1])
    assert kept_hash in content or kept_hash.hex().encode() in content


async def test_errors_and_reprs_do_not_tell_secrets(store: Store, tmp_path: Path) -> None:
    secrets = await keep_secrets(store, tmp_path)
    shown = repr([await store.vault.current(N1), await store.vault.propose(N1), await store.boots.latest(N1)])
    assert not [secret.reveal() for secret in secrets if secret.reveal() in shown]
