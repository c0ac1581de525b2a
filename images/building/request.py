"""What a build is asked for, what it asks of others, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from images.manifest import ImageManifest
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock


class Stage(StrEnum):
    """The stages of a build, in order. One whose result is kept from before does not run."""

    RESOLVE = "resolve"
    FETCH = "fetch"
    BOOTSTRAP = "bootstrap"
    UNPACK = "unpack"
    INITRD = "initrd"
    CUSTOMISE = "customise"
    PACK = "pack"
    VERIFY = "verify"
    PUBLISH = "publish"


class Report(Protocol):
    """Told what happens. May be called often."""

    def begin(self, stage: Stage) -> None:
        """Say that a stage begins; the one before it is over."""

    def progress(self, done: int, total: int) -> None:
        """How far the stage is."""

    def say(self, text: str) -> None:
        """One line for people: what is waited for, what is kept from before."""


class Supplies(Protocol):
    """Packages; neither is asked when everything is there already."""

    def resolve(self, report: Report) -> Lock:
        """Choose every package; raises ImageRefusedError with all reasons where that cannot be."""

    def fetch(self, lock: Lock, report: Report) -> Path:
        """Return the folder of a local repository that holds the lock's packages."""


class PublishLevel(StrEnum):
    """How hard the root is compressed. High takes minutes and is for images that many nodes fetch."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """Build `image` into `data_dir`. `site_files`: where files named by digest are. `update`: choose packages anew.

    `certificates`: of the site's signing keys (PEM), by name.
    """

    image: DebianImage
    data_dir: Path
    supplies: Supplies
    site_files: Path | None = None
    certificates: Mapping[str, str] = field(default_factory=dict)
    level: PublishLevel = PublishLevel.LOW
    update: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """An image that is in the store. `seconds`: the stages that ran; none where all was there already."""

    manifest: ImageManifest
    build_key: str
    lock_digest: str
    seconds: Mapping[Stage, float] = field(default_factory=dict)
    log: Path | None = None
