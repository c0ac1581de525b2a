"""What people and machines may ask about images: what is in them, and how two differ."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from images.manifest import ImageManifest
from provisioner.capabilities.releases import Artefacts
from provisioner.errors import NotFound

_SBOM = "sbom"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two images do not share; None: the image has no such thing."""

    kind: str
    """package, module, kernel, command line, or a role of a file."""
    name: str
    before: str | None
    after: str | None


async def sbom(artefacts: Artefacts, image: str) -> bytes:
    """The CycloneDX document as it was written. Raises `NotFound` for an image that is none or has none."""
    manifest = await asyncio.to_thread(artefacts.manifest, image)
    return await asyncio.to_thread(_sbom_path(artefacts, manifest).read_bytes)


async def differences(artefacts: Artefacts, one: str, other: str) -> list[Difference]:
    """From `one` to `other`: packages and modules by version, the kernel, its command line, and other files."""
    before = await asyncio.to_thread(artefacts.manifest, one)
    after = await asyncio.to_thread(artefacts.manifest, other)
    components = [await asyncio.to_thread(_components, artefacts, manifest) for manifest in (before, after)]
    found = [
        *_between("package", *components),
        *_between("kernel", _kernel(before), _kernel(after)),
        *_between("command line", _words(before), _words(after)),
        *_between("file", _files(before), _files(after)),
    ]
    return sorted(found, key=lambda one: (one.kind, one.name))


def _between(kind: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in before.keys() | after.keys():
        if before.get(name) != after.get(name):
            yield Difference(kind, name, before.get(name), after.get(name))


def _sbom_path(artefacts: Artefacts, manifest: ImageManifest) -> Path:
    found = next((one for one in manifest.artefacts if one.role == _SBOM), None)
    if found is None:
        raise NotFound(f"image {manifest.name} has no SBOM: only images that are built of packages have one")
    return artefacts.path(found.digest)


def _components(artefacts: Artefacts, manifest: ImageManifest) -> Mapping[str, str]:
    if not any(one.role == _SBOM for one in manifest.artefacts):
        return {}
    document: dict[str, Any] = orjson.loads(_sbom_path(artefacts, manifest).read_bytes())
    return {one["name"]: one.get("version", "") for one in document["components"]}


def _kernel(manifest: ImageManifest) -> Mapping[str, str]:
    return {} if manifest.bootable is None else {"abi": manifest.bootable.kernel_abi}


def _words(manifest: ImageManifest) -> Mapping[str, str]:
    words = () if manifest.bootable is None else manifest.bootable.command_line
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _files(manifest: ImageManifest) -> Mapping[str, str]:
    return {one.role: one.digest for one in manifest.artefacts}
