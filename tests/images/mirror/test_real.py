"""The shipped images against the real mirrors of this host's apt: only indices are fetched."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from images.mirror.errors import MirrorError
from images.mirror.host_sources import host_sources
from images.mirror.index import FetchedIndex, fetch_index
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock
from profiles.images.resolve import resolve
from profiles.loader import SHIPPED, load_catalog
from tests.requirements import need

IMAGES = load_catalog(SHIPPED).images


def has_sources() -> bool:
    try:
        return bool(host_sources("bookworm"))
    except MirrorError:
        return False


def locked(image: DebianImage, fetched: FetchedIndex) -> Lock:
    found = resolve(image, fetched.index, load_facts(), datetime.now(UTC).date(), keys=fetched.keys)
    assert isinstance(found, Lock), found
    return found


@pytest.mark.slow
@pytest.mark.xdist_group("heavy")
@pytest.mark.parametrize(("name", "kernel"), [("debian-12-base", "6.1.0-"), ("debian-13-base", "6.12.")])
def test_a_shipped_image_resolves_against_debian_itself(name: str, kernel: str, tmp_path: Path) -> None:
    """Release, updates and security updates, verified by Debian's own keys; the second time from the cache."""
    need(has_sources(), "the apt sources of this host have no mirror of Debian")
    image = IMAGES[name]
    assert isinstance(image, DebianImage)
    fetched = fetch_index(image, {}, tmp_path)
    lock = locked(image, fetched)
    assert lock.kernel.abi.startswith(kernel)
    assert {"systemd-sysv", "nftables", "libc6", "dpkg"} <= {one.name for one in lock.packages}
    assert all(fetched.origins[one.sha256] for one in lock.packages)
    assert len(lock.keys) >= 3
    assert all(len(key) == 40 for key in lock.keys)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "indices").iterdir()}
    assert locked(image, fetch_index(image, {}, tmp_path)).digest == lock.digest
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "indices").iterdir()} == kept
