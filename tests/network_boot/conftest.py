"""A service with one large file, for the web servers in front of it."""

from collections.abc import Iterator

import pytest

from provisioner.capabilities.cipher import Cipher
from provisioner.secrets.fernet_cipher import open_cipher
from tests.api.site import Site, running_site
from tests.network_boot.web_server import CONTENT


@pytest.fixture(scope="module")
def cipher(tmp_path_factory: pytest.TempPathFactory) -> Cipher:
    """For the store of the service."""
    return open_cipher(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, cipher: Cipher) -> Iterator[Site]:
    """A service with one file."""
    folder = tmp_path_factory.mktemp("site")
    with running_site(folder, cipher) as site:
        site.files.store.put_bytes(CONTENT)
        yield site
