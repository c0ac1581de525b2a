"""A profile resolved to exact versions: all that a build needs to know, with no choice left."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from profiles.images.debian import DebianImage
from profiles.images.package_index import Package

SCHEMA = "firstlight.image-lock/1"
_FOR_PEOPLE = {"description", "owner", "labels", "extends", "abstract"}


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package by content; `filename` is its path below the mirror."""

    name: str
    version: str
    arch: str
    sha256: str
    size_bytes: int
    filename: str


@dataclass(frozen=True, slots=True)
class LockedKernel:
    """The one kernel. `abi` is what uname -r says, and what modules are built for."""

    package: str
    version: str
    abi: str


@dataclass(frozen=True, slots=True)
class LockedDriver:
    """The driver with what follows from it: `components` by name, and the parameters of the nvidia module.

    `certificate` (PEM): of the key that has signed its modules, or will; None where the profile names no key, or where
    the lock was made without a site.
    """

    version: str
    components: dict[str, str]
    module_options: dict[str, str]
    certificate: str | None = None


@dataclass(frozen=True, slots=True)
class LockedModules:
    """Kernel modules that a stage builds before the image: `source` in a tree of exactly the packages `tree`.

    What comes out is the package `package`, which the image needs beside those of the mirror; `depends` and `provides`
    are the fields of its control file.
    """

    package: str
    version: str
    depends: str
    provides: str
    source: LockedPackage
    tree: tuple[LockedPackage, ...]


@dataclass(frozen=True, slots=True)
class Lock:
    """Equal content is an equal digest. `epoch`: the time that every file bears, in seconds since 1970.

    `keys`: fingerprints of the keys that signed what the mirrors offer, sorted; none for a folder of packages.
    """

    image: str
    arch: str
    profile: dict[str, Any]
    profile_digest: str
    epoch: int
    kernel: LockedKernel
    driver: LockedDriver | None
    keyring_sha256: str | None
    egress_sha256: str
    keys: tuple[str, ...]
    packages: tuple[LockedPackage, ...]
    modules: LockedModules | None = None

    @property
    def digest(self) -> str:
        """Return `sha256:<hex>` over the canonical JSON."""
        return _digest(self.canonical_json())

    def canonical_json(self) -> bytes:
        """Return the lock with sorted keys and compact separators, UTF-8."""
        return _canonical({"schema": SCHEMA, **asdict(self)})


def locked_package(one: Package) -> LockedPackage:
    """Return what a lock keeps of a package of the index."""
    return LockedPackage(one.name, one.version, one.arch, one.sha256, one.size_bytes, one.filename)


def profile_content(image: DebianImage) -> dict[str, Any]:
    """Return what the profile says, with defaults, without words for people: whichever files said it."""
    return image.model_dump(mode="json", exclude=_FOR_PEOPLE)


def profile_digest(image: DebianImage) -> str:
    """Return `sha256:<hex>` over the canonical JSON of the content."""
    return _digest(_canonical(profile_content(image)))


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
