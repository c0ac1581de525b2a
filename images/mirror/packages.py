"""The packages of a lock, whole and checked, as a local repository."""

import asyncio
import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from images.mirror.cache import MirrorCache, disk_faults
from images.mirror.download import Downloads, Report, Wanted
from images.mirror.errors import MirrorError
from images.mirror.index import Origins
from images.mirror.patience import USUAL, Patience
from images.mirror.repository import make_repository
from images.mirror.web import open_web
from profiles.images.lock import Lock, LockedPackage

_REMEDY = "resolve the profile again, or name another mirror"


def fetch_packages(
    lock: Lock,
    origins: Origins,
    cache: Path,
    report: Report,
    *,
    patience: Patience = USUAL,
) -> Path:
    """Return the folder of a repository that holds exactly the packages of the lock.

    What the cache has is checked and not fetched again; what broke off is resumed. One process fetches at a time.
    Raises MirrorError with the reason for every package that cannot be had.
    """
    places = MirrorCache(cache)
    with disk_faults(cache), places.alone("packages"):
        missing = [one for one in lock.packages if not _is_there(one, places)]
        _check_room(cache, missing, places)
        bases = _bases(lock, origins)
        wanted = [_wanted(one, origins.get(one.sha256) or _guesses(one, bases), places) for one in missing]
        asyncio.run(_fetch(wanted, patience, report))
        return make_repository(lock, places)


async def _fetch(wanted: list[Wanted], patience: Patience, report: Report) -> None:
    async with open_web(patience) as web:
        await Downloads(web, patience, report).fetch(wanted)


def _is_there(package: LockedPackage, places: MirrorCache) -> bool:
    """A file that has changed on the disk is removed, and fetched again."""
    path = places.package(package.sha256)
    try:
        with path.open("rb") as file:
            whole = hashlib.file_digest(file, "sha256").hexdigest() == package.sha256
    except FileNotFoundError:
        return False
    if not whole:
        path.unlink()
    return whole


def _check_room(cache: Path, missing: Iterable[LockedPackage], places: MirrorCache) -> None:
    parts = ((one.size_bytes, places.part(one.sha256)) for one in missing)
    needed = sum(size - (part.stat().st_size if part.exists() else 0) for size, part in parts)
    free = shutil.disk_usage(cache).free
    if needed > free:
        text = f"{cache}: the packages need {needed / 2**20:,.1f} MiB, {free / 2**20:,.1f} MiB are free"
        raise MirrorError([f"{text}; make room, or put data_dir on a larger disk"])


def _bases(lock: Lock, origins: Origins) -> tuple[str, ...]:
    """What paths of the lock's packages are below, by those that the indices still name."""
    known = ((one.filename, origin) for one in lock.packages for origin in origins.get(one.sha256, ()))
    return tuple(dict.fromkeys(origin.removesuffix(path) for path, origin in known if origin.endswith(f"/{path}")))


def _guesses(package: LockedPackage, bases: tuple[str, ...]) -> tuple[str, ...]:
    """A mirror keeps files for a while that its indices no longer name; the digest says whether it is the right one."""
    return tuple(f"{base}{package.filename}" for base in bases)


def _wanted(package: LockedPackage, origins: tuple[str, ...], places: MirrorCache) -> Wanted:
    name = f"{package.name} {package.version}"
    part, place = places.part(package.sha256), places.package(package.sha256)
    return Wanted(name, package.sha256, package.size_bytes, origins, part, place, _REMEDY)
