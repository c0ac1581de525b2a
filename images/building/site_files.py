"""Files of the site that profiles name by digest, whatever they are called."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from images.building.failures import BuildFailedError


def find_site_files(folder: Path | None, wanted: Iterable[str]) -> Mapping[str, Path]:
    """Return where each file (64 hex digits) is; raise BuildFailedError with all that are missing.

    A file that is called like its digest is found at once; otherwise every file of the folder is read.
    """
    lacking = sorted(set(wanted))
    if not lacking:
        return {}
    if folder is None:
        raise BuildFailedError(f"the profile names files by digest; write site_files: FOLDER in site.yaml ({lacking})")
    found: dict[str, Path] = {}
    for path in _likely_first(folder, lacking):
        digest = _sha256(path)
        if digest in lacking:
            found[digest] = path
        if len(found) == len(lacking):
            return found
    missing = ", ".join(one for one in lacking if one not in found)
    raise BuildFailedError(f"{folder}: holds no file with sha256 {missing}; put it there, or correct the profile")


def _likely_first(folder: Path, wanted: list[str]) -> list[Path]:
    if not folder.is_dir():
        raise BuildFailedError(f"{folder}: is not a folder; correct site_files in site.yaml")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return sorted(files, key=lambda path: path.name not in wanted)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
