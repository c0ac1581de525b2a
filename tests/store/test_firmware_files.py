"""Firmware packages of one process: read once for all nodes, in a thread; fetched from another worker."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from images.store import ArtefactStore
from profiles.firmware.component import Artefact
from provisioner.errors import NotFound, PackageError
from provisioner.firmware_files import FirmwareFiles

CONTENT = b"a vendor's image\n" * 1000


def artefact(content: bytes = CONTENT, file: str = "one/bios.bin") -> Artefact:
    return Artefact(file=file, sha256=sha256(content).hexdigest(), size_bytes=len(content))


def stored(folder: Path, content: bytes = CONTENT) -> Path:
    store = ArtefactStore(folder)
    return store.path(store.put_bytes(content))


def read_bytes() -> int:
    """So much this process has read until now, in calls to the kernel."""
    told = Path("/proc/self/io").read_text()
    return int(next(line.split()[1] for line in told.splitlines() if line.startswith("rchar:")))


async def test_ten_thousand_nodes_read_a_package_once(tmp_path: Path) -> None:
    content = os.urandom(8 * 2**20)
    stored(tmp_path, content)
    files, one = FirmwareFiles(ArtefactStore(tmp_path)), artefact(content)
    before = read_bytes()
    found = await asyncio.gather(*(files.inspect(one) for _ in range(10_000)))
    assert {each.sha256 for each in found} == {one.sha256}
    assert read_bytes() - before < 3 * len(content), "10,000 looks, and the file was read about once"


async def test_reading_does_not_stop_the_event_loop(tmp_path: Path) -> None:
    """Two hundred megabytes take as long as they take; other nodes' requests go on meanwhile."""
    path = tmp_path / "blobs" / "sha256"
    path.mkdir(parents=True)
    digest = sha256(bytes(200 * 2**20)).hexdigest()
    with (path / digest).open("wb") as file:
        file.truncate(200 * 2**20)
    reading = asyncio.create_task(
        FirmwareFiles(ArtefactStore(tmp_path)).inspect(Artefact(file="a.bin", sha256=digest, size_bytes=200 * 2**20))
    )
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert (await reading).sha256 == digest
    assert turns > 5, "the loop went round while the file was read"


async def test_a_file_that_changes_is_read_again_and_one_that_is_kept_is_not(tmp_path: Path) -> None:
    path, one = stored(tmp_path), artefact()
    files = FirmwareFiles(ArtefactStore(tmp_path))
    first = await files.inspect(one)
    ArtefactStore(tmp_path).put_bytes(CONTENT)  # counts it as new for the collection
    assert await files.inspect(one) is first
    path.chmod(0o644)
    path.write_bytes(b"X" + CONTENT[1:])
    assert (await files.inspect(one)).sha256 != one.sha256


async def test_what_is_wrong_with_a_package_is_kept_too(tmp_path: Path) -> None:
    """A .fwpkg is a PLDM package: the name is the catalog's, files in the store have none."""
    stored(tmp_path)
    files = FirmwareFiles(ArtefactStore(tmp_path))
    errors = []
    for _ in range(2):
        with pytest.raises(PackageError, match="package header identifier at byte 0") as caught:
            await files.inspect(artefact(file="board.fwpkg"))
        errors.append(caught.value)
    assert errors[0] is errors[1]
    assert (await files.inspect(artefact(file="board.bin"))).sha256 == artefact().sha256


async def test_a_package_that_nobody_has_is_not_found(tmp_path: Path) -> None:
    files = FirmwareFiles(ArtefactStore(tmp_path))
    with pytest.raises(NotFound):
        await files.inspect(artefact())
    with pytest.raises(NotFound, match=r"package one/bios\.bin: no mirror has it .* firmware_dir on this host"):
        await files.obtain(artefact())


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (named by the library)
        pass


@contextmanager
def web(folder: Path) -> Iterator[str]:
    """A web server over a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def offered(folder: Path, content: bytes) -> None:
    """As a worker answers: by digest."""
    folder.mkdir(exist_ok=True)
    (folder / f"sha256:{artefact().sha256}").write_bytes(content)


async def test_a_package_comes_from_the_next_source_that_has_it(tmp_path: Path) -> None:
    """Whole, by its digest, once for all who wait, and nothing of it stays behind."""
    offered(tmp_path / "right", CONTENT)
    offered(tmp_path / "wrong", CONTENT[::-1])
    (tmp_path / "empty").mkdir()
    store = ArtefactStore(tmp_path / "store")
    with web(tmp_path) as url:
        files = FirmwareFiles(store, [f"{url}/empty", f"{url}/wrong", f"{url}/right"])
        paths = set(await asyncio.gather(*(files.obtain(artefact()) for _ in range(20))))
    (path,) = paths
    assert path.read_bytes() == CONTENT
    assert path == store.path(f"sha256:{artefact().sha256}")  # type: ignore[arg-type]  # a digest by its words
    assert not list(store.unfinished.iterdir())


async def test_wrong_bytes_never_get_into_the_store(tmp_path: Path) -> None:
    offered(tmp_path / "wrong", CONTENT[::-1])
    store = ArtefactStore(tmp_path / "store")
    with web(tmp_path) as url:
        files = FirmwareFiles(store, [f"{url}/wrong"])
        with pytest.raises(NotFound, match=r"gives other bytes .* share that folder among the workers"):
            await files.obtain(artefact())
    assert not store.blobs.exists()


async def test_who_gives_up_waiting_leaves_it_to_the_others(tmp_path: Path) -> None:
    content = os.urandom(32 * 2**20)
    stored(tmp_path, content)
    files = FirmwareFiles(ArtefactStore(tmp_path))
    hasty, patient = (asyncio.create_task(files.inspect(artefact(content))) for _ in range(2))
    await asyncio.sleep(0)
    hasty.cancel()
    assert (await patient).sha256 == artefact(content).sha256


async def test_a_look_costs_little_once_the_file_is_known(tmp_path: Path) -> None:
    stored(tmp_path)
    files, one = FirmwareFiles(ArtefactStore(tmp_path)), artefact()
    await files.inspect(one)
    begun = time.process_time()
    for _ in range(1000):
        await files.inspect(one)
    assert time.process_time() - begun < 1.0, "a millisecond each would be 100 times what it takes"
