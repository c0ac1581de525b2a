"""What the site wants its nodes to run, as files and digests: profiles resolved, images built, packages stored."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from images.boot_program.build import BootProgram
from images.digest import DigestError, parse_digest
from images.manifest import ImageManifest, ManifestError
from images.oci.published import keep_image
from images.store import ArtefactAbsentError, ArtefactCorruptError, ArtefactError, ArtefactStore
from profiles.catalog import Catalog
from profiles.findings import did_you_mean
from profiles.firmware.component import Artefact
from profiles.images.debian import DebianImage
from profiles.images.profile import ImageProfile
from profiles.matching import Found, Refusal, match
from profiles.models import HardwareClass
from profiles.release import Release
from provisioner.boot_programs import BootPrograms, BootSettings, lacks
from provisioner.built_images import built_image, manifest_in
from provisioner.errors import BadInput, NotFound
from provisioner.firmware.package.inspect import Inspection
from provisioner.firmware_files import FirmwareFiles
from provisioner.models.package import Package


def check_chosen(catalog: Catalog, chosen: Mapping[str, str], data_dir: Path, boot: BootSettings) -> None:
    """Every chosen release exists, is for the hardware class that it is chosen for, and its image can be booted.

    Raises `BadInput` with everything that is wrong.
    """
    artefacts = artefacts_in(data_dir)
    findings = []
    for hardware_class, name in chosen.items():
        release = catalog.releases.get(name)
        if release is None:
            findings.append(f"there is no release {name}; {did_you_mean(name, catalog.releases)}")
        elif release.hardware_class != hardware_class:
            findings.append(f"{name} is for {release.hardware_class}, not for {hardware_class}")
        elif lack := _lack(catalog.images[release.image], data_dir, artefacts, boot):
            findings.append(f"{name}: {lack}")
    if findings:
        raise BadInput("\n".join(f"releases: {finding}" for finding in findings))


def _lack(image: ImageProfile, data_dir: Path, artefacts: ArtefactStore, boot: BootSettings) -> str | None:
    """What has to be there before a Debian image can be booted. The agent is made when the service starts."""
    if not isinstance(image, DebianImage):
        return None
    try:
        return lacks(built_image(image, data_dir, artefacts), boot)
    except BadInput as error:
        return str(error)


def artefacts_in(data_dir: Path) -> ArtefactStore:
    """The site's store of files by digest."""
    return ArtefactStore(data_dir / "artefacts")


class ReleaseShelf:
    """`Releases` and `Artefacts`."""

    def __init__(
        self,
        catalog: Catalog,
        chosen: Mapping[str, str],
        data_dir: Path,
        boot: BootSettings,
        *,
        firmware_dir: Path | None,
    ) -> None:
        """Take the images of `chosen` (hardware class -> release name), which `check_chosen` has passed."""
        self._catalog, self._data_dir, self._boot, self._firmware_dir = catalog, data_dir, boot, firmware_dir
        self._artefacts = artefacts_in(data_dir)
        self._files = FirmwareFiles(self._artefacts, [f"{one}/v1/artefacts" for one in (boot.server, *boot.mirrors)])
        self._stocked: dict[Path, tuple[str, int, int]] = {}
        self._programs = BootPrograms(self._artefacts, data_dir, boot)
        self._manifests: dict[str, ImageManifest] = {}
        self._desired = {name: self._resolve(release) for name, release in chosen.items()}

    def stock(self) -> tuple[Artefact, ...]:
        """Put the firmware packages of the chosen releases into the store; those that are not here then, each once.

        Raises `BadInput` when a file is not what its bundle says.
        """
        missing = [artefact for release in self._desired.values() for artefact in self._stock(release)]
        return tuple({artefact.sha256: artefact for artefact in missing}.values())

    def hardware_class(self, found: Found) -> HardwareClass | Refusal:
        """As the protocol says."""
        return match(self._catalog, found)

    def desired(self, hardware_class: str) -> Release | None:
        """As the protocol says. The image is the one that was built when the service started."""
        return self._desired.get(hardware_class)

    def named(self, name: str) -> Release:
        """As the protocol says. Firmware packages of it that are missing are asked for when a node needs them."""
        if name not in self._catalog.releases:
            raise NotFound(f"there is no release {name}; {did_you_mean(name, self._catalog.releases)}")
        release = self._resolve(name)
        tuple(self._stock(release))
        return release

    def package(self, digest: str) -> Package | None:
        """As the protocol says."""
        try:
            return self._package(digest, self._files.path(digest))
        except NotFound:
            return None

    async def obtain(self, artefact: Artefact) -> Package:
        """As the protocol says: from the service's own address, where another worker may answer, and the mirrors."""
        return self._package(f"sha256:{artefact.sha256}", await self._files.obtain(artefact))

    async def inspect(self, artefact: Artefact) -> Inspection:
        """As the protocol says."""
        return await self._files.inspect(artefact)

    def manifest(self, image: str) -> ImageManifest:
        """As the protocol says. What a digest names never changes, so it is read once."""
        if image not in self._manifests:
            try:
                self._manifests[image] = manifest_in(self._artefacts, parse_digest(image))
            except DigestError as error:
                raise NotFound(f"{image}: no such image") from error
        return self._manifests[image]

    async def uki(self, image: str) -> BootProgram | None:
        """As the protocol says."""
        return await self._programs.of_image(self.manifest(image))

    async def ipxe(self, arch: str) -> BootProgram | None:
        """As the protocol says."""
        return await self._programs.ipxe(arch)

    @property
    def mirrors(self) -> tuple[str, ...]:
        """As the protocol says."""
        return self._boot.mirrors

    async def is_sound(self, digest: str) -> bool:
        """As the protocol says."""
        try:
            await asyncio.to_thread(self._artefacts.verify, parse_digest(digest))
        except (ArtefactAbsentError, ArtefactCorruptError, DigestError, OSError):
            return False
        return True

    def path(self, digest: str) -> Path:
        """As the protocol says."""
        return self._files.path(digest)

    def digest_of(self, image: ImageProfile) -> str:
        """As `BuiltImages` says."""
        return built_image(image, self._data_dir, self._artefacts).digest

    def keep(self, digest: str) -> None:
        """As `BuiltImages` says."""
        try:
            keep_image(self._artefacts, parse_digest(digest))
        except (ArtefactError, ManifestError, DigestError) as error:
            raise NotFound(f"image {digest}: not all of it is in the store: {error}") from error

    def _package(self, digest: str, path: Path) -> Package:
        return Package(path, f"{self._boot.server}/v1/artefacts/{digest}", path.stat().st_size)

    def _resolve(self, release: str) -> Release:
        image = self._catalog.images[self._catalog.releases[release].image]
        manifest = built_image(image, self._data_dir, self._artefacts)
        return self._catalog.resolve_release(release, manifest.digest)

    def _stock(self, release: Release) -> Iterator[Artefact]:
        for component in release.firmware.components:
            digest = f"sha256:{component.artefact.sha256}"
            path = self._firmware_dir / component.artefact.file if self._firmware_dir else None
            if path is None or not path.is_file():
                if self.package(digest) is None:
                    yield component.artefact
                continue
            self._put(path, digest)

    def _put(self, path: Path, digest: str) -> None:
        """Into the store; a file that has been put and looks the same is not read again."""
        known = path.stat()
        looks = (digest, known.st_size, known.st_mtime_ns)
        if self._stocked.get(path) == looks:
            with contextlib.suppress(ArtefactAbsentError):
                self._artefacts.keep(parse_digest(digest))
                return
        try:
            self._artefacts.put_file(path, parse_digest(digest))
        except ArtefactCorruptError as error:
            raise BadInput(f"{error}; correct the bundle or replace the file") from error
        self._stocked[path] = looks
