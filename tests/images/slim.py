"""The small image of the tests of building, and what they look at of it."""

import os
import shutil
import sys
from pathlib import Path

from images.digest import Digest
from images.manifest import ImageManifest, parse_manifest
from images.store import ArtefactStore
from profiles.images.debian import DebianImage
from tests.images.built import SlimImage, slim_profile

NAME = "slim"


def link_copies(source: Path, target: Path) -> None:
    """Copy a folder as hard links, in no time, without what others are at work on."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        source, target, copy_function=os.link, ignore=shutil.ignore_patterns("*.lock", ".*", "modules", "parts")
    )


def manifest_of(image: SlimImage) -> ImageManifest:
    return parse_manifest(ArtefactStore(image.data_dir / "artefacts").verify(Digest(image.digest)).read_bytes())


def command(data_dir: Path, profiles: Path, *more: str) -> list[str]:
    """The command as a person runs it."""
    words = ["image", "build", NAME, f"--data-dir={data_dir}", f"--profiles={profiles}", *more]
    return [sys.executable, "-m", "provisioner", *words]


def with_changes(slim: SlimImage, **changes: object) -> DebianImage:
    return DebianImage.model_validate({**slim_profile(slim.profiles, NAME).model_dump(), **changes})


def trees_in(data_dir: Path) -> list[str]:
    work = data_dir / "builds" / "work"
    return [one.name for one in work.iterdir() if one.is_dir()] if work.exists() else []
