"""Files by digest from whichever mirror gives them: a few at once, each from another mirror where one fails."""

import asyncio
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from images.mirror.errors import MirrorError, shown
from images.mirror.patience import Patience
from images.mirror.transfer import DiskError, InterruptedTransferError, RefusedTransferError, transfer
from images.mirror.web import Web

Report = Callable[[int, int, str], None]
"""Told bytes done, bytes in all, and the name of what came last."""

_LONGEST_PAUSE_S = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file by content. `place`: where it goes once it is whole; `part`: where it grows until then.

    `remedy`: what a person does when no mirror has it.
    """

    name: str
    sha256: str
    size_bytes: int
    origins: tuple[str, ...]
    part: Path
    place: Path
    remedy: str


class _AllMirrorsFailError(MirrorError):
    """No mirror answers: there is no point in asking for the other files."""


class Downloads:
    """One set of files; what was learnt about a mirror from one file counts for the next."""

    def __init__(self, web: Web, patience: Patience, report: Report) -> None:
        """Nothing is fetched yet."""
        self._web, self._patience, self._report = web, patience, report
        self._faults: Counter[str] = Counter()
        self._done, self._total = 0, 0

    async def fetch(self, files: Iterable[Wanted]) -> None:
        """Bring all files to their places; raises MirrorError with the reason for each that nobody gives.

        What has come of a file stays in `part` for another time, unless its bytes were wrong.
        """
        waiting = sorted(files, key=lambda one: -one.size_bytes)
        self._total += sum(one.size_bytes for one in waiting)
        reasons: list[str] = []
        queue = iter(waiting)
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(min(self._patience.at_once, len(waiting))):
                    tasks.create_task(self._work(queue, reasons))
        except* DiskError as group:
            reasons.insert(0, str(group.exceptions[0]))
        except* _AllMirrorsFailError as group:
            reasons.insert(0, str(group.exceptions[0]))
        if reasons:
            raise MirrorError(reasons)

    async def _work(self, queue: Iterable[Wanted], reasons: list[str]) -> None:
        for wanted in queue:
            try:
                await self._obtain(wanted)
            except _AllMirrorsFailError:
                raise
            except MirrorError as error:
                reasons.extend(error.reasons)

    async def _obtain(self, wanted: Wanted) -> None:
        """Ask all mirrors, the ones that failed less first; pause, and ask those again that may give it yet."""
        if not wanted.origins:
            raise MirrorError([f"{wanted.name}: no mirror has it (sha256 {wanted.sha256}); {wanted.remedy}"])
        self._count(wanted.part.stat().st_size if wanted.part.exists() else 0, wanted.name)
        faults: dict[str, str] = {}
        remaining = set(wanted.origins)
        rounds = AsyncRetrying(
            stop=stop_after_attempt(self._patience.rounds),
            wait=wait_random_exponential(self._patience.pause.total_seconds(), _LONGEST_PAUSE_S),
            retry=retry_if_exception_type(InterruptedTransferError),
            reraise=True,
        )
        try:
            async for attempt in rounds:
                with attempt:
                    await self._ask_all(wanted, remaining, faults)
        except InterruptedTransferError as error:
            raise _AllMirrorsFailError([_nobody(wanted, faults, "try again when the mirror is back")]) from error
        except RefusedTransferError as error:
            raise MirrorError([_nobody(wanted, faults, wanted.remedy)]) from error

    async def _ask_all(self, wanted: Wanted, remaining: set[str], faults: dict[str, str]) -> None:
        for origin in sorted(remaining, key=lambda one: (self._faults[_host(one)], wanted.origins.index(one))):
            try:
                await self._ask(wanted, origin)
            except RefusedTransferError as error:
                remaining.discard(origin)
                faults[origin] = str(error)
            except InterruptedTransferError as error:
                self._faults[_host(origin)] += 1
                faults[origin] = str(error)
            else:
                return
        if remaining:
            raise InterruptedTransferError(wanted.name)
        raise RefusedTransferError(wanted.name)

    async def _ask(self, wanted: Wanted, origin: str) -> None:
        """Transfer and check; a file that began elsewhere and turns out wrong is asked for once more from its start."""
        for begun_elsewhere in (wanted.part.exists(), False):
            await transfer(
                self._web,
                origin,
                wanted.part,
                size_bytes=wanted.size_bytes,
                patience=self._patience,
                count=lambda size_bytes: self._count(size_bytes, wanted.name),
            )
            actual = await asyncio.to_thread(_sha256, wanted.part)
            if actual == wanted.sha256:
                return _publish(wanted)
            wanted.part.unlink()
            self._count(-wanted.size_bytes, wanted.name)
            if not begun_elsewhere:
                break
        raise RefusedTransferError(f"gives other bytes (sha256 {actual}) than the index says ({wanted.sha256})")

    def _count(self, size_bytes: int, name: str) -> None:
        self._done += size_bytes
        self._report(self._done, self._total, name)


def _publish(wanted: Wanted) -> None:
    """A file in its place is whole and on the disk."""
    try:
        wanted.place.parent.mkdir(parents=True, exist_ok=True)
        with wanted.part.open("rb") as file:
            os.fsync(file.fileno())
        wanted.part.chmod(0o644)
        wanted.part.replace(wanted.place)
    except OSError as error:
        raise DiskError(f"{wanted.place}: {error.strerror}: make room, or put data_dir on another disk") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _nobody(wanted: Wanted, faults: dict[str, str], remedy: str) -> str:
    told = "; ".join(f"{shown(origin)} {fault}" for origin, fault in faults.items())
    return f"{wanted.name}: {told}; {remedy}"


def _host(origin: str) -> str:
    return urlsplit(origin).netloc if "://" in origin else ""
