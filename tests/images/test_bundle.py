"""Bundles for sites without a network: all of it or nothing, and only what the site's own root vouches for."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from images.bundle.errors import BundleError
from images.bundle.export import export
from images.oci.collect import collect
from images.oci.holdings import holdings_in
from images.oci.published import statements_in
from images.trust.client import trusted_targets
from images.trust.errors import TrustError
from images.trust.folder import shipped_root, signers_in
from images.trust.keys import Role
from images.trust.repository import Expiries, publish, published
from tests.images.bundles import GOOD, LATER, NOW, Isolated, Origin, make_keys, small_bundle
from tests.images.oci_samples import is_whole
from tests.images.processes import wait

PAST = NOW.replace(year=NOW.year - 1)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_keys(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture
def origin(tmp_path: Path, keys: Path) -> Origin:
    return Origin(tmp_path / "origin", keys)


@pytest.fixture
def site(tmp_path: Path, keys: Path) -> Isolated:
    return Isolated(tmp_path / "site", keys)


def test_what_was_exported_is_there_after_the_import(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    image = origin.image("a")
    origin.image("b", "other")
    origin.sign(image)
    bundle = origin.export(tmp_path / "bundle")
    assert origin.export(tmp_path / "again").read_bytes() == bundle.read_bytes(), "equal content, equal bytes"
    admitted = site.take(bundle)
    store = site.site.store
    assert is_whole(store, image)
    assert [one.subject for one in statements_in(store)] == [image.digest]
    assert site.visible() == ({image.digest}, admitted.targets, image.digest)
    assert not list((store.root / "incoming").iterdir())
    assert site.take(bundle).targets == admitted.targets, "again"
    with tarfile.open(bundle) as other_tool:
        assert {one.type for one in other_tool} == {tarfile.REGTYPE}


def test_the_site_says_itself_that_it_still_holds(origin: Origin, site: Isolated, tmp_path: Path, keys: Path) -> None:
    """Nothing expires while it is isolated; and its own timestamps do not make the next bundle an old one."""
    for mark in ("a", "b", "c"):
        assert site.take(small_bundle(origin, tmp_path / mark, mark)).renewed
        for _ in range(3):
            site.take(tmp_path / mark)
        believed = trusted_targets(site.site.trust.metadata, tmp_path / "client", shipped_root(keys))
        assert believed == site.visible()[1]
    keyless = Isolated(tmp_path / "keyless", keys, own_key=False)
    assert not keyless.take(tmp_path / "c").renewed


def test_a_key_that_the_root_does_not_name_renews_nothing(origin: Origin, tmp_path: Path, keys: Path) -> None:
    stranger = make_keys(tmp_path / "stranger")
    shutil.copy(keys / "1.root.json", stranger / "1.root.json")
    site = Isolated(tmp_path / "site", stranger)
    with pytest.raises(TrustError, match="timestamp version"):
        site.take(small_bundle(origin, tmp_path / "bundle"))
    assert site.visible() == (set(), {}, None)


def test_a_return_is_a_new_version_that_names_an_old_digest(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    old, new = origin.image("a"), origin.image("b")
    for image in (old, new):
        origin.sign(image)
        site.take(origin.export(tmp_path / image.digest[7:20]))
    assert site.visible()[2] == new.digest
    with pytest.raises(BundleError, match=r"^tuf/.*: is older than what this site has seen .* sign its digest again"):
        site.take(tmp_path / old.digest[7:20])
    assert origin.sign(old) == 3
    light = origin.export(tmp_path / "return", files=False)
    assert "blobs/sha256/" not in light.read_text()
    site.take(light)
    assert site.visible()[0] == {old.digest, new.digest}
    assert site.visible()[2] == old.digest


def test_a_bundle_without_files_needs_a_site_that_has_them(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    origin.sign(origin.image("a"))
    with pytest.raises(BundleError, match=r"^blobs/sha256/[0-9a-f]{64}: is needed, and neither .* export it with them"):
        site.take(origin.export(tmp_path / "light", files=False))
    assert site.visible() == (set(), {}, None)


def test_what_others_signed_is_refused(tmp_path: Path, site: Isolated) -> None:
    foreign = Origin(tmp_path / "foreign", make_keys(tmp_path / "other"))
    with pytest.raises(BundleError, match=r"^tuf/.*\.json: is not signed by whom this site trusts"):
        site.take(small_bundle(foreign, tmp_path / "bundle"))
    assert site.visible() == (set(), {}, None)


@pytest.mark.parametrize(
    ("expiries", "member"),
    [
        (Expiries(LATER, LATER, PAST), "tuf/timestamp.json"),
        (Expiries(LATER, PAST, LATER), "tuf/1.snapshot.json"),
        (Expiries(PAST, LATER, LATER), "tuf/1.targets.json"),
    ],
)
def test_what_has_expired_is_refused(
    origin: Origin, site: Isolated, tmp_path: Path, expiries: Expiries, member: str
) -> None:
    origin.sign(origin.image("a"), expiries=expiries)
    with pytest.raises(BundleError, match="have expired; sign anew") as refused:
        site.take(origin.export(tmp_path / "bundle"))
    assert refused.value.member == member
    assert site.visible() == (set(), {}, None)


def test_a_site_that_was_offline_for_long_takes_the_next_one_and_no_older_one(
    origin: Origin, site: Isolated, tmp_path: Path
) -> None:
    """theupdateframework/python-tuf#1563, #1498: what has expired still says which versions are too old."""
    first = small_bundle(origin, tmp_path / "first")
    origin.sign(origin.image("b"), expiries=Expiries(PAST, PAST, PAST))
    seen, metadata = site.site.trust.seen, origin.trust.metadata
    shutil.copytree(metadata, seen)
    for role in ("snapshot", "targets"):
        shutil.copy(metadata / f"2.{role}.json", seen / f"{role}.json")
    with pytest.raises(BundleError, match="is older than what this site has seen"):
        site.take(first)
    third = small_bundle(origin, tmp_path / "third", "c")
    site.take(third)
    assert len(site.visible()[0]) == 1


def test_a_bundle_that_is_cut_off_is_refused_and_goes_on_when_it_is_whole(
    origin: Origin, site: Isolated, tmp_path: Path
) -> None:
    bundle = small_bundle(origin, tmp_path / "bundle")
    content = bundle.read_bytes()
    cut = tmp_path / "cut"
    for size in [*range(0, len(content) - 1, 1531), len(content) - 512, len(content) - 1]:
        cut.write_bytes(content[:size])
        with pytest.raises(BundleError, match=r"cut off|is not there|copy the bundle again"):
            site.take(cut)
        assert site.visible() == (set(), {}, None)
    (place,) = (site.site.store.root / "incoming").iterdir()
    kept = {path: path.stat().st_ino for path in place.glob("blob-*")}
    assert kept
    site.take(bundle)
    store = site.site.store
    inodes = {path.stat().st_ino for path in store.blobs.iterdir()}
    assert set(kept.values()) <= inodes, "what was received before was not written again"


def test_no_damage_goes_in(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    """One bit somewhere: refused by member; or it was in what nobody reads, and all is as it should be."""
    image = origin.image("a")
    origin.sign(image)
    content = origin.export(tmp_path / "bundle").read_bytes()
    chance = random.Random(7)
    refused = 0
    for number in range(150):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        (tmp_path / "damaged").write_bytes(damaged)
        one = Isolated(tmp_path / f"site-{number}", site.keys)
        try:
            one.take(tmp_path / "damaged")
        except BundleError:
            refused += 1
            assert one.visible() == (set(), {}, None)
        else:
            assert one.visible()[0] == {image.digest}
            assert is_whole(one.site.store, image)
    assert refused > 140


IMPORT = """
import sys
from pathlib import Path
from tests.images.bundles import Isolated
Isolated(Path(sys.argv[1]), Path(sys.argv[2])).take(Path(sys.argv[3]))
"""


@pytest.mark.parametrize("files", [1, 20, 60])
def test_an_import_that_is_killed_shows_nothing_and_goes_on(
    origin: Origin, site: Isolated, tmp_path: Path, files: int
) -> None:
    images = [origin.image(f"{number}", f"small-{number}") for number in range(30)]
    origin.sign(*images)
    bundle = origin.export(tmp_path / "bundle", *(one.name for one in images))
    words = [sys.executable, "-c", IMPORT, str(site.data_dir), str(site.keys), str(bundle)]
    importer = subprocess.Popen(words, cwd=Path(__file__).parents[2])
    incoming = site.site.store.root / "incoming"
    wait(lambda: importer.poll() is not None or len(list(incoming.rglob("blob-*"))) >= files, seconds=120)
    os.kill(importer.pid, signal.SIGKILL)
    importer.wait()
    seen = site.visible()
    assert seen in ((set(), {}, None), ({one.digest for one in images}, seen[1], None))
    site.take(bundle)
    assert site.visible()[0] == {one.digest for one in images}
    for image in images:
        assert is_whole(site.site.store, image)


def test_a_collection_takes_what_an_old_bundle_brought(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    for mark in ("a", "b"):
        site.take(small_bundle(origin, tmp_path / mark, mark))
    store = site.site.store
    newest = site.visible()[2]
    now = datetime.now(UTC) + timedelta(days=2)
    went = collect(store, lambda: holdings_in(site.data_dir, store), now, timedelta(days=1))
    assert len(went.images) == 1
    assert site.visible()[0] == {newest}


def test_a_bundle_cannot_bring_another_root(origin: Origin, site: Isolated, tmp_path: Path) -> None:
    """The first root is the site's own; a client never reads that of the bundle, and so it must not be kept."""
    origin.sign(origin.image("a"))
    targets, bundle = published(origin.trust.metadata), tmp_path / "bundle"
    shutil.copy(make_keys(tmp_path / "other") / "1.root.json", origin.trust.metadata / "1.root.json")
    export(origin.store, origin.trust, targets, bundle)
    with pytest.raises(BundleError, match=r"^tuf/1\.root\.json: is not what this site has verified"):
        site.take(bundle)
    assert site.visible() == (set(), {}, None)


def test_an_image_that_cannot_be_used_here_is_refused_before_anything_is_there(
    origin: Origin, site: Isolated, tmp_path: Path
) -> None:
    """Signed under a name that is not its own, or from a later Firstlight."""
    image = origin.image("a")
    origin.sign(image)
    target = published(origin.trust.metadata)["image/small"]
    later = image.canonical_json().replace(b"{", b'{"annotations":{"new":"x"},', 1)
    newer = replace(target, digest=origin.store.put_bytes(later), size_bytes=len(later))
    for name, signed, told in (("image/big", target, "is an image of small"), ("image/small", newer, "says more than")):
        targets = {name: signed}
        publish(origin.trust.metadata, targets, signers_in(origin.keys, *Role), GOOD)
        bundle = tmp_path / f"bundle-{told[:2]}"
        export(origin.store, origin.trust, targets, bundle)
        with pytest.raises(BundleError, match=told):
            site.take(bundle)
        assert site.visible() == (set(), {}, None)
