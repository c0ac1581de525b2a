"""What stands for all that goes into a result. Equal keys are equal results; anything left out would be a stale one."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import images
from images.building.request import PublishLevel
from profiles.images.lock import Lock

_IMAGES = Path(images.__file__).parent
_BUILDER = ("building", "initrd", "modules", "agent", "build.py", "manifest.py")


def builder_digest(versions: Mapping[str, str], folder: Path = _IMAGES) -> str:
    """Return `sha256:<hex>` of the builder: our sources and the versions of the tools."""
    sources = [(path.relative_to(folder).as_posix(), path.read_bytes().hex()) for path in _sources(folder)]
    return key_of(sources, dict(versions))


def build_key(lock: Lock, builder: str, level: PublishLevel) -> str:
    """Return `sha256:<hex>` of everything that the image is made from."""
    return key_of(lock.digest, builder, level)


def bootstrap_key(lock: Lock, versions: Mapping[str, str]) -> str:
    """Return 64 hex digits: the packages, who installs them, the date they see; nothing else of the profile."""
    packages = [(one.name, one.version, one.sha256) for one in lock.packages]
    base = lock.profile["base"]
    source = (_IMAGES / "building" / "bootstrap.py").read_bytes().hex()
    built = [asdict(lock.modules), lock.driver and lock.driver.certificate] if lock.modules else []
    built += [path.read_bytes().hex() for path in sorted((_IMAGES / "modules").glob("*.*"))] if built else []
    key = key_of(packages, base["suite"], lock.arch, lock.epoch, versions["mmdebstrap"], source, built)
    return key.removeprefix("sha256:")


def key_of(*parts: Any) -> str:
    """Return `sha256:<hex>` of what JSON can say."""
    content = json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _sources(folder: Path) -> list[Path]:
    found = []
    for name in _BUILDER:
        place = folder / name
        found += [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)
