"""A flat apt repository of exactly the packages of a lock, for a build without a network."""

import hashlib
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from images.mirror.cache import MirrorCache
from images.mirror.deb import DebError, control
from images.mirror.errors import MirrorError
from images.mirror.paragraphs import read_paragraphs
from profiles.images.lock import Lock, LockedPackage
from profiles.images.resolve import DEBIAN_ARCH
from profiles.models import Arch


def make_repository(lock: Lock, cache: MirrorCache) -> Path:
    """Return the folder with hard links to the packages, which are in the cache, and Packages and Release over them.

    apt reads it as `deb [trusted=yes] file:<folder> ./`: it is not signed, every file in it was checked by digest.
    Equal locks have equal bytes in it. Raises MirrorError for a package that says to be another one than the lock's.
    """
    place = cache.repository(lock.digest.removeprefix("sha256:"))
    packages = _packages_text(lock, cache)
    files = {"Packages": packages, "Release": _release_text(lock, packages)}
    if _is_whole(place, files, lock, cache):
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=place.parent, prefix=".new-"))
    try:
        new.chmod(0o755)
        for name, content in files.items():
            (new / name).write_bytes(content)
        for package in lock.packages:
            (new / deb_name(package)).hardlink_to(cache.package(package.sha256))
        shutil.rmtree(place, ignore_errors=True)
        new.replace(place)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return place


def deb_name(package: LockedPackage) -> str:
    """Return its file's name in the repository, by Debian's custom without the epoch."""
    return f"{package.name}_{package.version.rpartition(':')[2]}_{package.arch}.deb"


def _is_whole(place: Path, files: dict[str, bytes], lock: Lock, cache: MirrorCache) -> bool:
    try:
        same = all((place / name).read_bytes() == content for name, content in files.items())
        return same and all((place / deb_name(one)).samefile(cache.package(one.sha256)) for one in lock.packages)
    except FileNotFoundError:
        return False


def _packages_text(lock: Lock, cache: MirrorCache) -> bytes:
    paragraphs, reasons = [], []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        answers = threads.map(_control, (cache.package(one.sha256) for one in lock.packages))
    for package, said in zip(lock.packages, answers, strict=True):
        if isinstance(said, DebError):
            reasons.append(f"{package.name}: {said}; resolve the profile again, or name another mirror")
            continue
        reasons += _differences(package, said)
        where = f"Filename: ./{deb_name(package)}\nSize: {package.size_bytes}\nSHA256: {package.sha256}\n"
        paragraphs.append(said + where)
    if reasons:
        raise MirrorError(reasons)
    return "\n".join(paragraphs).encode()


def _control(path: Path) -> str | DebError:
    try:
        return control(path)
    except DebError as error:
        return error


def _differences(package: LockedPackage, said: str) -> list[str]:
    """A mirror's index may say of a package what the package does not."""
    fields = next(read_paragraphs(said), {})
    inside = " ".join(fields.get(name, "?") for name in ("package", "version", "architecture"))
    locked = f"{package.name} {package.version} {package.arch}"
    if inside == locked:
        return []
    return [f"{package.name}: the package is {inside}, the mirror's index calls it {locked}; name another mirror"]


def _release_text(lock: Lock, packages: bytes) -> bytes:
    arch = DEBIAN_ARCH[Arch(lock.arch)]
    date = format_datetime(datetime.fromtimestamp(lock.epoch, UTC), usegmt=True)
    digest = f" {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages"
    lines = ("Origin: Firstlight", f"Label: {lock.image}", f"Suite: {lock.profile['base']['suite']}")
    return "\n".join((*lines, f"Date: {date}", f"Architectures: {arch}", "SHA256:", digest, "")).encode()
