"""The key file, and what happens to a database when it changes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from provisioner.errors import BadInput
from provisioner.models.secret import Credentials, Secret
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.secrets.key_file import add_key, read_keys
from provisioner.store.opening import open_store
from provisioner.store.reencryption import reencrypt
from tests.store.nodes import N1, add_nodes

LABEL = Credentials("ADMIN", Secret("from-the-label"))


def test_the_first_start_makes_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "etc" / "key"
    sealed = open_cipher(path).encrypt(b"words")
    assert path.stat().st_mode & 0o777 == 0o600
    assert open_cipher(path).decrypt(sealed) == b"words"
    assert b"words" not in sealed
    assert [one.name for one in path.parent.iterdir()] == ["key"]


def test_processes_that_start_at_once_use_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: read_keys(tmp_path / "key"), range(8)))
    assert len(keys) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_file_that_others_may_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key"
    read_keys(path)
    path.chmod(mode)
    with pytest.raises(BadInput, match=f"chmod 600 {path}"):
        read_keys(path)


@pytest.mark.parametrize(
    ("content", "told"), [("", "no key"), ("# nothing\n\n", "no key"), ("# old\nabc\n", ":2: not a Fernet key")]
)
def test_a_key_file_with_something_else_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(BadInput, match=told):
        read_keys(path)
    assert path.read_text() == content


def test_a_folder_is_no_key_file(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(BadInput, match="cannot read"):
        read_keys(tmp_path)


def test_a_new_key_encrypts_and_the_old_ones_still_decrypt(tmp_path: Path) -> None:
    path = tmp_path / "key"
    sealed = open_cipher(path).encrypt(b"words")
    add_key(path)
    newest, oldest = read_keys(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert open_cipher(path).decrypt(sealed) == b"words"
    again = open_cipher(path).encrypt(b"words")
    path.write_bytes(oldest)
    with pytest.raises(BadInput, match="no key in this file"):
        open_cipher(path).decrypt(again)
    path.write_bytes(newest)
    assert open_cipher(path).decrypt(again) == b"words"


async def test_a_database_is_not_opened_with_somebody_elses_key(url: str, tmp_path: Path) -> None:
    """A lost key file must not be replaced silently: every password in the database would be lost with it."""
    open_store(url, open_cipher(tmp_path / "key")).close()
    with pytest.raises(BadInput, match="restore the right key file"):
        open_store(url, open_cipher(tmp_path / "other"))
    open_store(url, open_cipher(tmp_path / "key")).close()


async def test_after_reencryption_the_old_key_can_go(url: str, tmp_path: Path) -> None:
    path = tmp_path / "key"
    store = open_store(url, open_cipher(path))
    await add_nodes(store)
    await store.vault.put_factory(N1, LABEL)
    proposed, _ = await store.vault.propose(N1)
    add_key(path)
    assert await reencrypt(store.database, open_cipher(path)) == 3
    store.close()
    path.write_bytes(read_keys(path)[0])
    store = open_store(url, open_cipher(path))
    assert await store.vault.current(N1) == LABEL
    assert await store.vault.propose(N1) == (proposed, False)
    store.close()
