"""Fixtures for the tests of the API."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from provisioner.capabilities.cipher import Cipher
from provisioner.secrets.fernet_cipher import open_cipher
from tests.api.site import Site, running_site


@pytest.fixture(scope="session")
def key_cipher(tmp_path_factory: pytest.TempPathFactory) -> Cipher:
    """One key file for all tests."""
    return open_cipher(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture(scope="session", autouse=True)
def _quiet_log() -> Iterator[None]:
    """The service logs from a thread of its own, and would write into whatever a test captures."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    yield
    structlog.reset_defaults()


@pytest.fixture
def site(tmp_path: Path, key_cipher: Cipher) -> Iterator[Site]:
    """A site of its own for one test."""
    with running_site(tmp_path, key_cipher) as site:
        yield site


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory, key_cipher: Cipher) -> Iterator[Site]:
    """A site for tests that leave no traces that matter to each other."""
    with running_site(tmp_path_factory.mktemp("site"), key_cipher, nodes=40) as site:
        yield site
