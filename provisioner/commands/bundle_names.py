"""Names that are signed: of images and of releases, and what they stand for."""

from collections.abc import Mapping
from dataclasses import dataclass

from images.bundle.contents import IMAGE
from images.digest import Digest, parse_digest
from images.oci.published import image_entry, keep_image, publish_release
from images.store import ArtefactError
from images.trust.repository import Target
from profiles.findings import did_you_mean
from profiles.release import Release
from provisioner.built_images import built_image
from provisioner.commands.image_holdings import Shelf, catalog_of
from provisioner.errors import BadInput


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asked for. `asked`: names of images, each with `=DIGEST` where it is not the newest."""

    shelf: Shelf
    asked: tuple[str, ...]
    releases: tuple[str, ...]

    @property
    def images(self) -> Mapping[str, str]:
        """The name, and what a person wrote for the digest."""
        return {name: digest or name for name, _, digest in (one.partition("=") for one in self.asked)}

    @property
    def names(self) -> tuple[str, ...]:
        """As they are signed."""
        return (*(f"{IMAGE}{name}" for name in self.images), *(f"release/{name}" for name in self.releases))


def image_target(shelf: Shelf, name: str, digest: str) -> Target:
    """What the name of an image is to stand for. Raises `BadInput`, ArtefactError, ManifestError."""
    image = shelf.digest(digest)
    manifest = keep_image(shelf.store, image)
    if manifest.name != name:
        raise BadInput(f"--image {name}={digest}: that is an image of {manifest.name}")
    return Target(image, shelf.store.path(image).stat().st_size, {"arch": manifest.arch})


def release_target(shelf: Shelf, name: str) -> Target:
    """What the name of a release is to stand for: its document, its image and its firmware. Raises as above."""
    catalog = catalog_of(shelf.site)
    if name not in catalog.releases:
        raise BadInput(f"there is no release {name}; {did_you_mean(name, catalog.releases)}")
    image = built_image(catalog.images[catalog.releases[name].image], shelf.data_dir, shelf.store)
    release = catalog.resolve_release(name, image.digest)
    packages = _packages(shelf, release)
    entry = image_entry(shelf.store, image.digest)
    digest = publish_release(shelf.store, release.canonical_json(), entry, packages)
    size_bytes = shelf.store.path(digest).stat().st_size
    return Target(digest, size_bytes, {"release": release.digest, "hardware_class": release.hardware_class.name})


def _packages(shelf: Shelf, release: Release) -> Mapping[Digest, int]:
    found, missing = {}, []
    for component in release.firmware.components:
        artefact = component.artefact
        digest = parse_digest(f"sha256:{artefact.sha256}")
        folder = shelf.site.firmware_dir if shelf.site else None
        try:
            if folder is not None and (folder / artefact.file).is_file():
                shelf.store.put_file(folder / artefact.file, digest)
            found[digest] = shelf.store.path(digest).stat().st_size
        except ArtefactError as error:
            missing.append(f"firmware package {artefact.file}: {error}")
    if missing:
        raise BadInput("\n".join((*missing, "put them into the folder that site.yaml names as firmware_dir")))
    return found
