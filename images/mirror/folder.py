"""A folder of .deb files as a source of packages; the index is ours."""

import hashlib
from pathlib import Path

import orjson

from images.mirror.cache import MirrorCache
from images.mirror.deb import DebError, control
from images.mirror.errors import MirrorError
from images.whole_files import write_whole
from profiles.images.package_index import IndexFaultError, Package, read_packages


def read_folder(folder: Path, cache: MirrorCache) -> tuple[tuple[Package, str], ...]:
    """Return the packages below the folder with their paths; raises MirrorError naming every file that is none.

    A file that has kept its size and time is not read again: a package is checked by digest when it is taken.
    """
    paths = sorted(folder.rglob("*.deb")) if folder.is_dir() else []
    if not paths:
        raise MirrorError([f"{folder}: there are no .deb files; put the packages there, or correct the path"])
    memory = cache.folder(hashlib.sha256(str(folder.resolve()).encode()).hexdigest())
    known = _recall(memory)
    said: dict[str, list[str]] = {}
    reasons = []
    for path in paths:
        name, state = str(path.relative_to(folder)), path.stat()
        stamp = f"{state.st_size} {state.st_mtime_ns} {state.st_ino}"
        try:
            said[name] = known[name] if known.get(name, [""])[0] == stamp else [stamp, _paragraph(path, name)]
        except (DebError, OSError) as error:
            reasons.append(f"{error}; replace it")
    if reasons:
        raise MirrorError(reasons)
    if said != known:
        write_whole(memory, orjson.dumps(said))
    return tuple((_package(paragraph, folder / name), str(folder / name)) for name, (_, paragraph) in said.items())


def _recall(memory: Path) -> dict[str, list[str]]:
    try:
        known: dict[str, list[str]] = orjson.loads(memory.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return known


def _paragraph(path: Path, name: str) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{control(path)}Filename: {name}\nSize: {path.stat().st_size}\nSHA256: {digest}\n"


def _package(paragraph: str, path: Path) -> Package:
    try:
        return next(read_packages(paragraph))
    except IndexFaultError as error:
        raise MirrorError([f"{path}: {error}; replace it"]) from error
