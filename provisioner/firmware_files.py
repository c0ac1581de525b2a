"""Firmware packages of this process: where they lie, what is in them, and where those come from that are not here."""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from images.digest import DigestError, parse_digest
from images.mirror.apt_settings import AptSettings
from images.mirror.download import Downloads, Wanted
from images.mirror.errors import MirrorError
from images.mirror.patience import Patience
from images.mirror.web import open_web
from images.store import ArtefactAbsentError, ArtefactCorruptError, ArtefactStore
from profiles.firmware.component import Artefact
from provisioner.errors import BadInput, NotFound, PackageError
from provisioner.firmware.package.inspect import Inspection, inspect_file

BELIEVED_SECONDS = 3600.0
"""A file that looks unchanged is read again after this: disks forget."""
_PATIENCE = Patience(rounds=2)

_Stamp = tuple[int, int, int]
Key = TypeVar("Key")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was found in a file that looked like this, and when."""

    stamp: _Stamp
    at: float
    found: Inspection | PackageError


class FirmwareFiles:
    """Packages by digest. Belongs to one event loop; files are read in threads, each once for all who ask."""

    def __init__(self, store: ArtefactStore, sources: Sequence[str] = ()) -> None:
        """`sources`: URLs below which files are found by digest, asked in this order for what is not in the store."""
        self._store, self._sources = store, tuple(sources)
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._inspecting: dict[tuple[str, str], asyncio.Task[Inspection | PackageError]] = {}
        self._fetching: dict[str, asyncio.Task[None]] = {}

    def path(self, digest: str) -> Path:
        """Where it lies. Raises `NotFound`."""
        try:
            return self._store.path(parse_digest(digest))
        except (ArtefactAbsentError, DigestError) as error:
            raise NotFound(f"{digest}: no such artefact") from error

    async def inspect(self, artefact: Artefact) -> Inspection:
        """As the protocol says."""
        path = self.path(f"sha256:{artefact.sha256}")
        key, stamp = (artefact.sha256, Path(artefact.file).suffix.casefold()), _stamp(path)
        seen = self._seen.get(key)
        if seen is None or seen.stamp != stamp or time.monotonic() - seen.at > BELIEVED_SECONDS:
            found = await _shared(self._inspecting, key, lambda: _inspect(path, artefact.file))
            self._seen[key] = seen = _Seen(stamp, time.monotonic(), found)
        if isinstance(seen.found, PackageError):
            raise seen.found
        return seen.found

    async def obtain(self, artefact: Artefact) -> Path:
        """Where it lies; fetched first where it is not here. Raises `NotFound` with what each source said."""
        digest = f"sha256:{artefact.sha256}"
        try:
            return self.path(digest)
        except NotFound:
            await _shared(self._fetching, digest, lambda: self._fetch(artefact))
        return self.path(digest)

    async def _fetch(self, artefact: Artefact) -> None:
        """Into a file of its own, checked, and only then into the store: nobody sees half of it."""
        digest = f"sha256:{artefact.sha256}"
        part = self._store.unfinished / f"package-{artefact.sha256}-{os.getpid()}"
        place = part.with_name(f"{part.name}-whole")
        origins = tuple(f"{source}/{digest}" for source in self._sources)
        remedy = (
            "put it into the folder that site.yaml names as firmware_dir on this host, or share that folder among the "
            "workers"
        )
        wanted = Wanted(
            artefact.file, artefact.sha256, int(artefact.size_bytes), origins, part=part, place=place, remedy=remedy
        )
        try:
            async with open_web(_PATIENCE, AptSettings()) as web:
                await Downloads(web, _PATIENCE, _silent).fetch([wanted])
            await asyncio.to_thread(self._store.put_file, place, parse_digest(digest))
        except (MirrorError, ArtefactCorruptError, OSError) as error:
            raise NotFound(f"package {error}") from error
        finally:
            place.unlink(missing_ok=True)


async def _shared(running: "dict[Key, asyncio.Task[T]]", key: Key, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What is going on for this key, or begins now; who gives up leaves it to the others."""
    task = running.get(key)
    if task is None:
        task = running[key] = asyncio.create_task(work())
        task.add_done_callback(lambda _: running.pop(key, None))
    return await asyncio.shield(task)


async def _inspect(path: Path, name: str) -> Inspection | PackageError:
    try:
        return await asyncio.to_thread(inspect_file, path, name=name)
    except PackageError as error:
        return error
    except BadInput as error:
        raise NotFound(str(error)) from error


def _stamp(path: Path) -> _Stamp:
    """Not the time of the inode: the store renews it whenever somebody keeps a file."""
    known = path.stat()
    return known.st_ino, known.st_size, known.st_mtime_ns


def _silent(done: int, total: int, name: str) -> None:
    """Nobody watches."""
