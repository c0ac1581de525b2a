"""Mirrors of one small image: built once, with copies for each test to break."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images.mirror.apt_repository import Signer, build_debs
from tests.images.mirror.order import Order
from tests.images.mirror.package_mirror import PackageMirror
from tests.images.mirror.site import MirrorSite
from tests.profiles.image_files import debian


@pytest.fixture(scope="session")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signer]:
    """One key for the tests of a process."""
    signer = Signer(tmp_path_factory.mktemp("publisher") / "home")
    yield signer
    signer.close()


@pytest.fixture(scope="session")
def built_debs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages, built once; hard links to them are enough, as nothing writes into a package."""
    return build_debs(tmp_path_factory.mktemp("debs"))


@pytest.fixture
def apt_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of apt, in place of this host's: without proxies and passwords."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "apt.conf"
    path.write_text(f'Dir::Etc "{tmp_path}/etc/apt";\n#clear Acquire;\n')
    monkeypatch.setenv("APT_CONFIG", str(path))
    return path


@pytest.fixture
def site(publisher: Signer, built_debs: Path, apt_config: Path) -> MirrorSite:
    """A site whose mirror is published and on the disk."""
    tmp_path = apt_config.parent
    debs = tmp_path / "debs"
    shutil.copytree(built_debs, debs)
    found = MirrorSite(publisher, debs, tmp_path / "mirror", tmp_path / "cache", debian(tmp_path, "plain"))
    found.publish()
    return found


@pytest.fixture
def mirror(site: MirrorSite) -> Iterator[PackageMirror]:
    """The mirror over HTTP."""
    with PackageMirror(site.root) as server:
        yield server


@pytest.fixture
def order(site: MirrorSite, mirror: PackageMirror) -> Order:
    """An order at a mirror that is well until a test says otherwise."""
    return Order(site, mirror)
