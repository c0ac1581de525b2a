"""What is collected and what is not; also while others build (goharbor/harbor#2663, #8717: a tag is not the digest)."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from images.digest import Digest, digest_of
from images.manifest import ImageManifest
from images.oci.collect import Collected, collect
from images.oci.holdings import Holdings, holdings_in
from images.oci.pins import Pin, PinError, PinKind, pin, pins_of, unpin
from images.oci.published import image_entry, images_in, keep_image, publish_statement, statements_in
from images.oci.reachability import Blob, Links, collectable
from images.references import Reference, write_reference
from images.store import ArtefactAbsentError, ArtefactStore
from tests.images.oci_samples import is_whole, published

GRACE = timedelta(hours=24)
HOLD = Pin(PinKind.HOLD, "case-7", "a court asks for it")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def later() -> datetime:
    """When all that is there now has had its grace; what is put from now on has not."""
    time.sleep(0.05)  # the clock of the file system ticks in steps of up to 10 ms
    now = datetime.now(UTC)
    time.sleep(0.05)
    return now + GRACE


def gone(store: ArtefactStore, now: datetime, *, dry_run: bool = False) -> Collected:
    return collect(store, lambda: holdings_in(store.root.parent, store), now, GRACE, dry_run=dry_run)


@pytest.fixture
def store(tmp_path: Path) -> ArtefactStore:
    return ArtefactStore(tmp_path / "artefacts")


def test_what_nobody_holds_goes_with_all_that_only_it_needs(store: ArtefactStore) -> None:
    kept, other = published(store, "kept"), published(store, "other")
    publish_statement(store, image_entry(store, other.digest), b'{"about":"other"}')
    publish_statement(store, image_entry(store, kept.digest), b'{"about":"kept"}')
    pin(store, kept.digest, HOLD)
    now = later()
    would = gone(store, now, dry_run=True)
    assert is_whole(store, other)
    went = gone(store, now)
    assert went == would
    assert [one.digest for one in went.images] == [other.digest]
    assert went.size_bytes == sum(one.size_bytes for one in went.blobs) > 4000
    assert is_whole(store, kept), "the kernel that both have too"
    assert [one.digest for one in images_in(store)] == [kept.digest]
    assert [one.subject for one in statements_in(store)] == [kept.digest]
    with pytest.raises(ArtefactAbsentError):
        store.path(other.artefact("root").digest)
    assert gone(store, later()).blobs == ()


def test_what_is_young_stays(store: ArtefactStore) -> None:
    image = published(store, "a")
    now = later()
    keep_image(store, image.digest)
    assert gone(store, now).blobs == ()
    assert gone(store, later()).images != ()


def test_deleting_a_pointer_deletes_no_digest(store: ArtefactStore) -> None:
    """Two channels name one digest; one of them goes."""
    image = published(store, "a")
    for channel in ("canary", "production"):
        pin(store, image.digest, Pin(PinKind.CHANNEL, channel, "promoted"))
    unpin(store, image.digest, PinKind.CHANNEL, "canary")
    assert is_whole(store, image)
    assert gone(store, later()).blobs == ()
    unpin(store, image.digest, PinKind.CHANNEL, "production")
    assert is_whole(store, image)
    assert [one.digest for one in gone(store, later()).images] == [image.digest]


def test_a_name_and_its_boot_program_hold(store: ArtefactStore) -> None:
    image, other = published(store, "a"), published(store, "b")
    data_dir = store.root.parent
    programs = {one: store.put_bytes(b"program " + one.encode()) for one in (image.digest, other.digest, "loader")}
    (data_dir / "boot-programs").mkdir()
    for of, program in programs.items():
        made_from = {"loader": "sha256:x"} if of == "loader" else {"image": of}
        note = {**made_from, "program": {"digest": program, "size_bytes": 1, "signed": False}}
        (data_dir / "boot-programs" / f"{program[7:]}.json").write_text(json.dumps(note))
    write_reference(data_dir, Reference("small", image.digest, "p", "l", "k", "2026-01-01"))
    went = {one.digest for one in gone(store, later()).blobs}
    assert programs[other.digest] in went
    assert {programs[image.digest], programs["loader"], image.digest}.isdisjoint(went)
    (data_dir / "images" / "small.json").write_text("{")
    with pytest.raises(PinError, match=r"small\.json: is no reference"):
        gone(store, later())
    assert is_whole(store, image)


def test_a_pin_is_of_one_holder_with_one_reason(store: ArtefactStore) -> None:
    image = published(store, "a")
    pin(store, image.digest, HOLD)
    pin(store, image.digest, HOLD)
    assert pins_of(store, image.digest) == (HOLD,)
    with pytest.raises(PinError, match="hold case-7 holds it already"):
        pin(store, image.digest, Pin(PinKind.HOLD, "case-7", "another reason"))
    with pytest.raises(PinError, match="does not hold it; who does: hold case-7"):
        unpin(store, image.digest, PinKind.HOLD, "case-8")
    with pytest.raises(ArtefactAbsentError):
        pin(store, digest_of(b"absent"), HOLD)
    for wrong in ("", "../x", "A", "a/b", ".x"):
        with pytest.raises(PinError, match="a holder is named with"):
            pin(store, image.digest, Pin(PinKind.HOLD, wrong, "x"))


def test_a_pin_that_cannot_be_read_stops_the_collection(store: ArtefactStore) -> None:
    image = published(store, "a")
    pin(store, image.digest, HOLD)
    (path,) = (store.root / "pins" / image.digest[7:]).iterdir()
    path.write_text("{")
    with pytest.raises(PinError, match="is no pin"):
        gone(store, later())
    assert is_whole(store, image)


def test_what_killed_writers_left_goes_after_a_day(store: ArtefactStore) -> None:
    published(store, "a")
    (store.unfinished / "blob-x").write_bytes(b"x" * 5000)
    (store.root / "incoming" / "bundle").mkdir(parents=True)
    (store.root / "incoming" / "bundle" / "part").write_bytes(b"y" * 3000)
    hour = timedelta(hours=1)
    early = collect(store, lambda: Holdings({}, {}), later() - GRACE + 2 * hour, hour)
    assert (early.leftovers, len(early.images)) == ((), 1)
    late = collect(store, lambda: Holdings({}, {}), later(), hour)
    assert late.leftover_bytes == 8000
    assert not list(store.unfinished.iterdir())
    assert not list((store.root / "incoming").iterdir())


BUILDER = """
import sys
from pathlib import Path
from images.store import ArtefactStore
from tests.images.oci_samples import published
store, marks = ArtefactStore(Path(sys.argv[1])), sys.argv[2:]
for mark in marks:
    published(store, mark)
"""
COLLECTOR = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from images.oci.collect import collect
from images.oci.holdings import Holdings
from images.store import ArtefactStore
store, now = ArtefactStore(Path(sys.argv[1])), datetime.fromisoformat(sys.argv[2])
while True:
    collect(store, lambda: Holdings({}, {}), now, timedelta(hours=24))
    print("once", flush=True)
"""


def start(source: str, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", source, *words], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )


def test_builds_lose_nothing_while_others_collect(store: ArtefactStore) -> None:
    """Builds of what is old and about to go, and of new things, with files in common, against two collectors."""
    old = {mark: published(store, mark) for mark in (f"old-{number}" for number in range(40))}
    now = later()
    again = list(old)[:20]
    collectors = [start(COLLECTOR, str(store.root), now.isoformat()) for _ in range(2)]
    try:
        words = {part: (*again[part::2], *(f"new-{part}-{number}" for number in range(20))) for part in (0, 1)}
        builders = [start(BUILDER, str(store.root), *words[part]) for part in words]
        assert [one.wait(timeout=240) for one in builders] == [0, 0]
        for one in collectors:
            assert one.stdout is not None
            for _ in range(3):
                assert one.stdout.readline() == b"once\n"
    finally:
        for one in collectors:
            os.kill(one.pid, signal.SIGKILL)
            one.wait()
        for one in (*collectors, *builders):
            assert one.stdout is not None
            one.stdout.close()
    new = [f"new-{part}-{n}" for part in (0, 1) for n in range(20)]
    expected = {published(ArtefactStore(store.root.parent / "x"), mark).digest for mark in (*again, *new)}
    assert {one.digest for one in images_in(store)} == expected
    for digest in expected:
        assert is_whole(store, keep_image(store, digest))


@pytest.mark.parametrize("tries", range(3))
def test_a_collector_that_is_killed_leaves_no_image_in_pieces(store: ArtefactStore, tries: int) -> None:
    for number in range(60):
        published(store, f"{number}")
    keep = published(store, "keep")
    pin(store, keep.digest, HOLD)
    now = later()
    keep_image(store, keep.digest)
    before = len(list(store.blobs.iterdir()))
    collector = start(COLLECTOR, str(store.root), now.isoformat())
    deadline = time.monotonic() + 60
    while len(list(store.blobs.iterdir())) > before - 1 - 30 * tries and time.monotonic() < deadline:
        pass
    os.kill(collector.pid, signal.SIGKILL)
    collector.wait()
    assert collector.stdout is not None
    collector.stdout.close()
    for image in images_in(store):
        assert is_whole(store, keep_image(store, image.digest))
    assert keep.digest in {one.digest for one in images_in(store)}
    gone(store, now)
    assert {one.digest for one in images_in(store)} >= {keep.digest}


DIGESTS = tuple(Digest(f"sha256:{number:064x}") for number in range(8))


@st.composite
def stores(draw: st.DrawFn) -> tuple[list[Blob], Links, set[Digest]]:
    """Any store, also ones whose links form rings or lead nowhere."""
    digests = st.sampled_from(DIGESTS)
    blobs = [Blob(one, 1, EPOCH - timedelta(hours=draw(st.integers(0, 48)))) for one in draw(st.sets(digests))]
    parts = draw(st.dictionaries(digests, st.lists(digests, max_size=3), max_size=8))
    about = draw(st.dictionaries(digests, digests, max_size=4))
    return blobs, Links(parts, about), draw(st.sets(digests, max_size=3))


@given(stores())
def test_nothing_that_is_held_young_or_reached_goes(made: tuple[list[Blob], Links, set[Digest]]) -> None:
    blobs, links, pinned = made
    went = {one.digest for one in collectable(blobs, links, pinned, EPOCH, GRACE)}
    left = [one for one in blobs if one.digest not in went]
    assert went.isdisjoint(pinned | {one.digest for one in blobs if EPOCH - one.wanted_at < GRACE})
    for one in left:
        assert went.isdisjoint(links.parts.get(one.digest, ()))
        assert went.isdisjoint(said for said, image in links.about.items() if image == one.digest)
    assert not collectable(left, links, pinned, EPOCH, GRACE)


@given(stores())
def test_without_pins_everything_goes_in_time(made: tuple[list[Blob], Links, set[Digest]]) -> None:
    """So nothing is kept for another reason."""
    blobs, links, _ = made
    went = collectable(blobs, links, (), EPOCH + 3 * GRACE, GRACE)
    assert {one.digest for one in went} == {one.digest for one in blobs}


def test_a_hard_link_of_a_store_is_its_own(store: ArtefactStore, tmp_path: Path) -> None:
    """Backups that link: collecting here takes nothing there."""
    image: ImageManifest = published(store, "a")
    shutil.copytree(store.root, tmp_path / "backup", copy_function=os.link)
    gone(store, later())
    assert is_whole(ArtefactStore(tmp_path / "backup"), image)


def test_what_is_being_sent_stays_whole_whatever_is_published_or_collected(store: ArtefactStore) -> None:
    """warewulf/warewulf#1600: nodes booted a file that was being rewritten."""
    image = published(store, "a")
    root = image.artefact("root").digest
    with store.path(root).open("rb") as sending:
        first = sending.read(100)
        published(store, "a")
        published(store, "b")
        gone(store, later())
        with pytest.raises(ArtefactAbsentError):
            store.path(root)
        published(store, "a")
        assert digest_of(first + sending.read()) == root
