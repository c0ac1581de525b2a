"""What the site wants its nodes to run, as files and digests: profiles resolved, images built, packages stored."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from images.build import build_image
from images.digest import DigestError, parse_digest
from images.manifest import ImageManifest
from images.store import ArtefactAbsentError, ArtefactCorruptError, ArtefactStore
from profiles.catalog import Catalog
from profiles.findings import did_you_mean
from profiles.matching import Found, Refusal, match
from profiles.models import AgentImage, HardwareClass
from profiles.release import Release
from provisioner.errors import BadInput, NotFound
from provisioner.models.package import Package


def check_chosen(catalog: Catalog, chosen: Mapping[str, str]) -> None:
    """Every chosen release exists and is for the hardware class that it is chosen for. Raises `BadInput`."""
    findings = []
    for hardware_class, name in chosen.items():
        release = catalog.releases.get(name)
        if release is None:
            findings.append(f"there is no release {name}; {did_you_mean(name, catalog.releases)}")
        elif release.hardware_class != hardware_class:
            findings.append(f"{name} is for {release.hardware_class}, not for {hardware_class}")
        elif not isinstance(catalog.images[release.image], AgentImage):
            findings.append(f"{name} boots {release.image}, which cannot be built yet; name an image with root: agent")
    if findings:
        raise BadInput("\n".join(f"releases: {finding}" for finding in findings))


class ReleaseShelf:
    """`Releases` and `Artefacts`."""

    def __init__(self, catalog: Catalog, chosen: Mapping[str, str], artefacts: ArtefactStore, public_url: str) -> None:
        """Builds the images of `chosen` (hardware class -> release name), which `check_chosen` has passed."""
        self._catalog, self._artefacts, self._public_url = catalog, artefacts, public_url
        self._roots: dict[str, str] = {}
        self._desired = {name: self._resolve(release) for name, release in chosen.items()}

    def stock(self, firmware_dir: Path | None) -> tuple[str, ...]:
        """Put the firmware packages of the chosen releases into the store; those that `firmware_dir` lacks.

        Raises `BadInput` when a file is not what its bundle says.
        """
        missing = []
        for file, digest in self._packages():
            path = firmware_dir / file if firmware_dir else None
            if path is None or not path.is_file():
                if self.package(digest) is None:
                    missing.append(file)
                continue
            try:
                self._artefacts.put_file(path, parse_digest(digest))
            except ArtefactCorruptError as error:
                raise BadInput(f"{error}; correct the bundle or replace the file") from error
        return tuple(missing)

    def hardware_class(self, found: Found) -> HardwareClass | Refusal:
        """As the protocol says."""
        return match(self._catalog, found)

    def desired(self, hardware_class: str) -> Release | None:
        """As the protocol says."""
        return self._desired.get(hardware_class)

    def package(self, digest: str) -> Package | None:
        """As the protocol says."""
        try:
            path = self._artefacts.path(parse_digest(digest))
        except ArtefactAbsentError:
            return None
        return Package(path, f"{self._public_url}/v1/artefacts/{digest}", path.stat().st_size)

    def root_of(self, image: str) -> str:
        """As the protocol says."""
        if image not in self._roots:
            raise NotFound(f"image {image} is not in the artefact store")
        return self._roots[image]

    def path(self, digest: str) -> Path:
        """As the protocol says."""
        try:
            return self._artefacts.path(parse_digest(digest))
        except (ArtefactAbsentError, DigestError) as error:
            raise NotFound(f"{digest}: no such artefact") from error

    def _resolve(self, release: str) -> Release:
        image = self._catalog.images[self._catalog.releases[release].image]
        manifest = build_image(image.name, image.arch, self._artefacts)
        self._roots[manifest.digest] = _root(manifest)
        return self._catalog.resolve_release(release, manifest.digest)

    def _packages(self) -> Iterator[tuple[str, str]]:
        for release in self._desired.values():
            for component in release.firmware.components:
                yield component.artefact.file, f"sha256:{component.artefact.sha256}"


def _root(manifest: ImageManifest) -> str:
    return manifest.artefact("root").digest
